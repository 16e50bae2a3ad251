#include "heed/models/classify/text_reader.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/data/labeled/sentences.h"
#include "heed/data/saved_model.h"

namespace heed {
namespace {

std::vector<std::string> sentences_of(const std::string& text, const std::string& rule) {
  if (rule == "none") return {text};
  return rule == "tab" ? sentences_by_tab(text) : sentences_by_rule(text);
}

}  // namespace

ReadText TextReader::read(const std::string& text) const {
  std::vector<std::string> parts = sentences_of(text, sentences);
  for (auto& part : parts)
    if (lowercase) part = lowered(part);
  if (!documents) parts = {joined(parts, " ")};
  ReadText out;
  int64_t left = max_length;
  for (const auto& part : parts) {
    Segmentation sentence = tokenizer->segment(part);
    const auto tokens = static_cast<int64_t>(sentence.ids.size());
    const int64_t kept = max_length == 0 ? tokens : std::min(tokens, left);
    out.cut += tokens - kept;
    left -= kept;
    if (tokens > 0 && kept == 0) continue;
    sentence.ids.resize(static_cast<size_t>(kept));
    sentence.word.resize(static_cast<size_t>(kept));
    if (sentence.ids.empty() && documents) continue;
    out.ids.push_back(sentence.ids);
    out.sentences.push_back(std::move(sentence));
  }
  return out;
}

ExampleIds TextReader::read_all(const std::vector<std::vector<std::string>>& texts, int64_t* cut) const {
  ExampleIds all{.columns = std::vector<std::vector<TextIds>>(columns.size()), .documents = documents};
  for (const auto& example : texts) {
    check(example.size() == columns.size(), "classify: got an example of ", example.size(), " texts, expected ",
          joined(columns));
    for (size_t c = 0; c < columns.size(); ++c) {
      ReadText text = read(example[c]);
      all.columns[c].push_back(std::move(text.ids));
      if (cut != nullptr && text.cut > 0) ++*cut;
    }
  }
  return all;
}

nlohmann::ordered_json TextReader::json() const {
  return {{"columns", columns}, {"sentences", sentences}, {"lowercase", lowercase}, {"max_length", max_length}};
}

TextReader TextReader::parse(const nlohmann::json& content, const std::string& path) {
  TextReader reader;
  try {
    reader.columns = content.at("columns").get<std::vector<std::string>>();
    reader.sentences = content.at("sentences");
    reader.lowercase = content.at("lowercase");
    reader.max_length = content.at("max_length");
  } catch (const nlohmann::json::exception&) {
    fail(path, ": got no columns, sentences, lowercase and max_length of the texts", kDamaged);
  }
  check(!reader.columns.empty(), path, ": got no columns of the texts", kDamaged);
  return reader;
}

}  // namespace heed
