#include <algorithm>
#include <iterator>

#include "heed/base/unicode_kinds.h"
#include "heed/base/utf8.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {
namespace {

/// Unicode's property White_Space. Python's whitespace has four more, the separators U+001C to U+001F.
bool is_white(char32_t c) {
  return is_whitespace(c) && !(c >= 0x1C && c <= 0x1F);
}

/// Unicode's category P, and every ASCII character that is neither a letter, a digit, whitespace nor a control
/// character.
bool is_split_off(char32_t c) {
  const bool ascii = (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
  return ascii || is_punctuation(c);
}

/// Id of the special piece at the start of the text, or -1.
int64_t special_at(std::string_view text) {
  for (size_t i = 0; i < kSpecialPieces.size(); ++i) {
    if (text.substr(0, kSpecialPieces[i].size()) == kSpecialPieces[i]) return static_cast<int64_t>(i);
  }
  return -1;
}

class Segmenter {
 public:
  Segmenter(const Replacement& normalize, TokenizerSpec::Split split) : normalize_(normalize), split_(split) {}

  std::vector<Chunk> segment(std::string_view text) {
    size_t from = 0;
    for (size_t at = text.find('<'); at != std::string_view::npos;) {
      const int64_t special = special_at(text.substr(at));
      if (special >= 0) {
        add_text(text.substr(from, at - from));
        add_special(special);
        from = at + kSpecialPieces[static_cast<size_t>(special)].size();
      }
      at = text.find('<', special >= 0 ? from : at + 1);
    }
    add_text(text.substr(from));
    return std::move(chunks_);
  }

 private:
  void add_special(int64_t special) {
    const auto text = kSpecialPieces[static_cast<size_t>(special)];
    Chunk chunk{std::string(text), special, -1, {}};
    for (const char c : text) chunk.word = counter_.next(static_cast<char32_t>(c));
    chunks_.push_back(std::move(chunk));
  }

  void add_text(std::string_view text) {
    if (text.empty()) return;
    read(text);
    if (split_ == TokenizerSpec::Split::none) return add_chunk(0, characters_.size());
    size_t first = 0;
    for (size_t i = 0; i <= characters_.size(); ++i) {
      const bool apart =
          i < characters_.size() && split_ == TokenizerSpec::Split::punctuation && is_split_off(characters_[i]);
      if (i < characters_.size() && !is_white(characters_[i]) && !apart) continue;
      if (i > first) add_chunk(first, i);
      if (apart) add_chunk(i, i + 1);
      first = i + 1;
    }
  }

  /// The characters of the normalized text, and the word of each.
  void read(std::string_view text) {
    characters_.clear();
    words_.clear();
    while (!text.empty()) {
      const size_t plain = std::min(normalize_.from.empty() ? text.size() : text.find(normalize_.from), text.size());
      for (const char32_t c : decoded(text.substr(0, plain))) add_character(c, counter_.next(c));
      text.remove_prefix(plain);
      if (text.empty()) return;
      int64_t word = -1;
      for (const char32_t c : decoded(normalize_.from)) {
        const int64_t next = counter_.next(c);
        if (word < 0) word = next;
      }
      for (const char32_t c : decoded(normalize_.to)) add_character(c, word);
      text.remove_prefix(normalize_.from.size());
    }
  }

  void add_character(char32_t c, int64_t word) {
    characters_ += c;
    words_.push_back(word);
  }

  /// Characters first ... last - 1.
  void add_chunk(size_t first, size_t last) {
    Chunk chunk;
    if (first < last) chunk.word = words_[first];
    for (size_t run = first, i = first; i < last; run = i) {
      while (i < last && words_[i] == words_[run]) ++i;
      if (run > first) chunk.later.push_back({chunk.text.size(), words_[run]});
      chunk.text += encoded(std::u32string_view(characters_).substr(run, i - run));
    }
    chunks_.push_back(std::move(chunk));
  }

  const Replacement& normalize_;
  TokenizerSpec::Split split_;
  WordCounter counter_;
  std::u32string characters_;
  std::vector<int64_t> words_;
  std::vector<Chunk> chunks_;
};

}  // namespace

int64_t WordCounter::next(char32_t character) {
  const bool white = is_white(character);
  if (!white && !inside_) ++word_;
  inside_ = !white;
  return white ? -1 : word_;
}

std::vector<std::string> whitespace_words(std::string_view text) {
  WordCounter counter;
  std::vector<std::string> words;
  for (const char32_t c : decoded(text)) {
    const int64_t word = counter.next(c);
    if (word < 0) continue;
    words.resize(static_cast<size_t>(counter.count()));
    words.back() += encoded(c);
  }
  return words;
}

bool is_unspaced(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return in(0x0E00, 0x0EFF) ||                        // Thai, Lao
         in(0x1000, 0x109F) || in(0x1780, 0x17FF) ||  // Burmese, Khmer
         in(0x2E80, 0x2FFF) || in(0x3005, 0x3007) ||  // radicals, ideographic marks
         in(0x3040, 0x30FF) || in(0x3105, 0x312F) ||  // kana, bopomofo
         in(0x31A0, 0x31BF) || in(0x31F0, 0x31FF) ||  //
         in(0x3400, 0x4DBF) || in(0x4E00, 0x9FFF) ||  // ideographs
         in(0xF900, 0xFAFF) || in(0xFF66, 0xFF9F) ||  //
         in(0x20000, 0x3FFFF);
}

int64_t Chunk::word_of(size_t begin, size_t bytes) const {
  auto next = std::upper_bound(later.begin(), later.end(), begin,
                               [](size_t byte, const WordStart& start) { return byte < start.begin; });
  int64_t found = next == later.begin() ? word : std::prev(next)->word;
  for (; found < 0 && next != later.end() && next->begin < begin + bytes; ++next) found = next->word;
  return found;
}

std::vector<Chunk> chunks(std::string_view text, const Replacement& normalize, TokenizerSpec::Split split) {
  return Segmenter(normalize, split).segment(text);
}

}  // namespace heed
