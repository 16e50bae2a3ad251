#include "apps/cli/explain/rationales.h"

#include <map>
#include <sstream>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

/// What the words of a text have in common in every way to split and to lowercase them.
std::string without_spaces(const std::string& text) {
  std::string letters;
  for (const char letter : lowered(text))
    if (letter != ' ' && letter != '\t' && letter != '\n' && letter != '\r') letters += letter;
  return letters;
}

bool is_line(const std::string& text) {
  int64_t number = 0;
  return read_integer(text, number) && number > 0;
}

/// The number of the line of "dev.tsv:17"; of a built-in text its number, "built-in review 17 of dev"; or "".
std::string line_of(const std::string& id) {
  const size_t colon = id.rfind(':');
  if (colon != std::string::npos) return is_line(id.substr(colon + 1)) ? id.substr(colon + 1) : "";
  std::istringstream words(id);
  for (std::string word; words >> word;)
    if (is_line(word)) return word;
  return "";
}

/// Texts by a name; one that several have is kept by none.
class Named {
 public:
  void add(const std::string& name, size_t text) {
    const auto [at, is_new] = texts_.emplace(name, text);
    if (!is_new) at->second = kSeveral;
  }
  std::optional<size_t> find(const std::string& name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() || found->second == kSeveral ? std::nullopt : std::optional(found->second);
  }

 private:
  static constexpr size_t kSeveral = static_cast<size_t>(-1);
  std::map<std::string, size_t> texts_;
};

}  // namespace

Rationales rationales_of(const GoldWeights& gold, const std::vector<RationaleText>& texts, const std::string& file,
                         std::optional<double> relevant_above) {
  Named ids, lines, contents;
  for (size_t i = 0; i < texts.size(); ++i) {
    ids.add(texts[i].id, i);
    if (const std::string line = line_of(texts[i].id); !line.empty()) lines.add(line, i);
    contents.add(without_spaces(joined(texts[i].words, " ")), i);
  }
  Rationales all{.weights = std::vector<std::vector<double>>(texts.size())};
  for (const auto& one : gold.texts) {
    auto found = ids.find(one.id);
    if (!found && !gold.has_text) found = lines.find(one.id);
    const std::string content = gold.has_text ? without_spaces(one.text) : "";
    if (found && gold.has_text && without_spaces(joined(texts[*found].words, " ")) != content) found.reset();
    if (!found && gold.has_text) found = contents.find(content);
    if (!found) {
      ++all.missing;
      continue;
    }
    const size_t words = texts[*found].words.size();
    check(words == one.weights.size(), "explain: ", one.where, ": got ", one.weights.size(), " gold weights for the ",
          words, " words of the text '", excerpt(texts[*found].id), "' as the run reads it, expected one for each",
          gold.has_text ? "" : "; choose ids by --id-column, or texts by --text-column");
    auto& weights = all.weights[*found];
    all.found += weights.empty() ? 1 : 0;
    weights = one.weights;
    if (relevant_above)
      for (double& weight : weights) weight = weight > *relevant_above ? 1 : 0;
  }
  check(all.found > 0, "explain: ", file, ": got none of its ", gold.texts.size(), " texts in the ", texts.size(),
        " that are explained, expected rationales of these; choose the set by --set or by overrides, as ",
        "data.test=", file, ", ids by --id-column, and texts by --text-column");
  return all;
}

}  // namespace heed::cli
