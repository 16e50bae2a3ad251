#include "apps/cli/torch/vocabulary_report.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr size_t kShown = 5;  // words in a message
constexpr size_t kLettersShown = 40;

std::string shown(const std::string& word) {
  return "'" + excerpt(word, kLettersShown) + "'";
}

std::string listed(const std::vector<std::string>& texts) {
  std::vector<std::string> first(texts.begin(), texts.begin() + static_cast<int64_t>(std::min(texts.size(), kShown)));
  return joined(first) + (texts.size() > kShown ? ", ..." : "");
}

bool is_known(const Tokenizer& tokenizer, const std::string& word) {
  const int64_t id = tokenizer.id(word);
  return id != Tokenizer::kUnknown && !tokenizer.is_special(id);
}

/// Longest entry that is looked for, in characters: keeps the search linear in the length of the text.
constexpr size_t kLongestMatch = 32;

}  // namespace

std::vector<std::string> longest_matches(const Tokenizer& tokenizer, const std::string& word) {
  const std::u32string letters = decoded(word);
  if (!std::all_of(letters.begin(), letters.end(), is_unspaced)) return {};
  if (tokenizer.encode(word) != std::vector<int64_t>{Tokenizer::kUnknown}) return {};
  std::vector<std::string> words;
  for (size_t begin = 0; begin < letters.size();) {
    size_t length = std::min(letters.size() - begin, kLongestMatch);
    while (length > 0 && !is_known(tokenizer, encoded(letters.substr(begin, length)))) --length;
    if (length == 0) return {};
    words.push_back(encoded(letters.substr(begin, length)));
    begin += length;
  }
  return words;
}

std::vector<std::string> VocabularyReport::read_source(const Translator& translator,
                                                       const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines) all.push_back(read(translator.languages(), *translator.languages().source, line));
  return all;
}

std::vector<std::string> VocabularyReport::read_target(const Translator& translator,
                                                       const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines) all.push_back(read(translator.languages(), *translator.languages().target, line));
  return all;
}

std::string VocabularyReport::read(const Languages& languages, const Tokenizer& tokenizer, const std::string& line) {
  std::string text;
  bool changed = false;
  for (const auto& word : whitespace_words(line)) {
    const auto parts = longest_matches(tokenizer, languages.prepared(word));
    if (!text.empty()) text += ' ';
    text += parts.empty() || unspaced_ == Unspaced::kept ? word : joined(parts, " ");
    if (parts.empty()) continue;
    changed = changed || unspaced_ == Unspaced::segmented;
    if (seen_.insert(word).second) segmented_.emplace_back(word, joined(parts, " "));
  }
  const std::string& read = changed ? text : line;
  note_unknown(tokenizer, tokenizer.segment(languages.prepared(read)));
  return read;
}

int64_t VocabularyReport::read_texts(const TextReader& reader, const std::vector<std::string>& texts) {
  int64_t cut = 0;
  for (const auto& text : texts) {
    const ReadText read = reader.read(text);
    cut += read.cut > 0 ? 1 : 0;
    for (const auto& sentence : read.sentences) note_unknown(*reader.tokenizer, sentence);
  }
  return cut;
}

void VocabularyReport::note_unknown(const Tokenizer& tokenizer, const Segmentation& segmentation) {
  words_ += std::ssize(segmentation.words);
  std::vector<int64_t> tokens(segmentation.words.size()), unknown(segmentation.words.size());
  for (size_t i = 0; i < segmentation.ids.size(); ++i) {
    if (segmentation.word[i] < 0) continue;
    const auto word = static_cast<size_t>(segmentation.word[i]);
    ++tokens[word];
    unknown[word] += segmentation.ids[i] == Tokenizer::kUnknown;
  }
  for (size_t i = 0; i < segmentation.words.size(); ++i) {
    if (unknown[i] == 0 || segmentation.words[i] == tokenizer.piece(Tokenizer::kUnknown)) continue;
    ++unknown_count_;
    in_part_ = in_part_ || unknown[i] < tokens[i];
    if (seen_.insert("unknown " + segmentation.words[i]).second) unknown_.push_back(segmentation.words[i]);
  }
}

void VocabularyReport::print(std::ostream& out) const {
  std::vector<std::string> words, segmentations;
  for (const auto& word : unknown_) words.push_back(shown(word));
  for (const auto& [word, parts] : segmented_) segmentations.push_back(shown(word) + " as " + shown(parts));
  const std::string who = "heed: " + command_ + ": ";
  if (unknown_count_ > 0)
    out << who << unknown_count_ << " of " << words_ << (words_ == 1 ? " word" : " words")
        << (unknown_count_ == 1 ? " is" : " are") << " not in the vocabulary of " << excerpt(run_)
        << (unknown_count_ == 1 ? " and is" : " and are")
        << (in_part_ ? " read in part as <unk>: " : " read as <unk>: ") << listed(words) << '\n';
  if (!segmentations.empty())
    out << who
        << (unspaced_ == Unspaced::segmented ? "read by longest match with the vocabulary: "
                                             : "expected spaces between words; write ")
        << listed(segmentations) << '\n';
}

}  // namespace heed::cli
