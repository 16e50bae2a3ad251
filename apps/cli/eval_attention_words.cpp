#include "apps/cli/eval_attention_words.h"

#include <cmath>

#include "heed/base/unicode_kinds.h"
#include "heed/base/utf8.h"
#include "heed/data/tokenizer/spec.h"

namespace heed::cli {
namespace {

bool is_mark(char32_t character) {
  return is_punctuation(character) || is_symbol(character);
}

}  // namespace

double word_length(const std::string& word) {
  return static_cast<double>(decoded(word).size());
}

std::string counted_form(const std::string& word) {
  const std::u32string all = decoded(lowered(word));
  size_t begin = 0, end = all.size();
  while (begin < end && is_mark(all[begin])) ++begin;
  while (end > begin && is_mark(all[end - 1])) --end;
  return encoded(begin == end ? all : all.substr(begin, end - begin));
}

void WordFrequency::add(const std::string& text) {
  for (const auto& word : whitespace_words(text)) {
    ++counts_[counted_form(word)];
    ++words_;
  }
}

double WordFrequency::log_frequency(const std::string& word) const {
  const auto found = counts_.find(counted_form(word));
  return std::log1p(static_cast<double>(found == counts_.end() ? 0 : found->second));
}

double WordFrequency::rarity(const std::string& word) const {
  return std::log1p(static_cast<double>(words_)) - log_frequency(word);
}

}  // namespace heed::cli
