// What a tokenizer is made of, as it stands in tokenizer.json:
//
//   normalizer      Replace: one text for another (a blank for U+2581), or none
//   pre_tokenizer   WhitespaceSplit: words between whitespace, or none: the whole line is one word
//   model           WordLevel: a word is a piece;  BPE: characters, put together by merges
//   decoder         BPEDecoder: the end-of-word mark becomes a blank;  Replace;  none: pieces with whitespace in
//   between

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The pieces with a meaning of their own, at 0 ... 3. Where one of them stands in a text, it is itself.
inline constexpr std::array<std::string_view, 4> kSpecialPieces = {"<pad>", "<unk>", "<s>", "</s>"};

struct Replacement {
  std::string from{}, to{};  // from is empty where there is none

  std::string operator()(std::string text) const {
    size_t at = from.empty() ? std::string::npos : text.find(from);
    if (at == std::string::npos) return text;
    std::string replaced;  // a new text: replacing in place moves the rest of the line each time
    size_t begin = 0;
    for (; at != std::string::npos; at = text.find(from, begin)) {
      replaced.append(text, begin, at - begin).append(to);
      begin = at + from.size();
    }
    return replaced.append(text, begin);
  }
};

struct TokenizerSpec {
  enum class Model { words, bpe };
  enum class Decoder { none, bpe, replace };
  using Merges = std::vector<std::pair<std::string, std::string>>;

  Replacement normalize{};
  bool split = false;
  Model model = Model::bpe;
  std::vector<std::string> pieces{};  // by number, the special ones first
  Merges merges{};                    // the first goes first
  std::string end_of_word{};          // what the last character of a word carries: "</w>", or nothing
  Decoder decoder = Decoder::none;
  Replacement decode{};  // the decoder's
};

/// Part of a text: a word, a special piece or, without splitting, all text between special pieces.
struct Chunk {
  struct WordStart {
    size_t begin;  // byte of the chunk
    int64_t word;
  };

  std::string text;
  int64_t special = -1;            // its number
  int64_t word = -1;               // of its first character; -1: that is whitespace
  std::vector<WordStart> later{};  // where the word changes inside the chunk, in order

  /// Index of the word to which these bytes belong, that of their first character that is no whitespace; -1 if there
  /// is none.
  int64_t word_of(size_t begin, size_t bytes) const;
};

/// The text cut at special pieces and, where asked for, at whitespace. A byte that is not UTF-8 becomes U+FFFD. Words
/// are those between whitespace in the text as it is given, before it is normalized.
std::vector<Chunk> chunks(std::string_view text, const Replacement& normalize, bool split);

/// Whether the script of the character is written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese. Korean is written with spaces.
bool is_unspaced(char32_t character);

/// Words between whitespace.
std::vector<std::string> whitespace_words(std::string_view text);

/// Counts the words of a text, character by character.
class WordCounter {
 public:
  /// Index of the word of the next character; -1 for whitespace.
  int64_t next(char32_t character);
  int64_t count() const { return word_ + 1; }

 private:
  int64_t word_ = -1;
  bool inside_ = false;  // of a word
};

}  // namespace heed
