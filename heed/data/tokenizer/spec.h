// The parts of a tokenizer, as in tokenizer.json:
//
//   normalizer      Replace: one text by another (a space by U+2581), or none
//   pre_tokenizer   WhitespaceSplit: splits at whitespace; with Punctuation after it: each punctuation character is a
//   chunk of its
//                   own too; or none: the whole line is one word
//   model           WordLevel: a word is a piece;  BPE: characters, joined by merges
//   decoder         BPEDecoder: the end-of-word mark becomes a space;  Replace;  none: joins pieces with spaces

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The special pieces, with ids 0 ... 3. They are recognized in any text.
inline constexpr std::array<std::string_view, 4> kSpecialPieces = {"<pad>", "<unk>", "<s>", "</s>"};

struct Replacement {
  std::string from{}, to{};  // from empty: no replacement

  std::string operator()(std::string text) const {
    size_t at = from.empty() ? std::string::npos : text.find(from);
    if (at == std::string::npos) return text;
    std::string replaced;  // replacing in place would move the rest of the line each time
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
  enum class Split {
    none,
    whitespace,
    punctuation
  };  // punctuation: at whitespace, and around each punctuation character
  using Merges = std::vector<std::pair<std::string, std::string>>;

  Replacement normalize{};
  Split split = Split::none;
  Model model = Model::bpe;
  std::vector<std::string> pieces{};  // by id, the special ones first
  Merges merges{};                    // in order of priority
  std::string end_of_word{};          // suffix of the last character of a word: "</w>", or empty
  Decoder decoder = Decoder::none;
  Replacement decode{};  // replacement of the decoder
};

/// Part of a text: a word, or a part of one if punctuation is split off, a special piece or, without splitting, the
/// text between special pieces.
struct Chunk {
  struct WordStart {
    size_t begin;  // byte offset in the chunk
    int64_t word;
  };

  std::string text;
  int64_t special = -1;            // id of the special piece; -1: none
  int64_t word = -1;               // index of the word of its first character; -1: whitespace
  std::vector<WordStart> later{};  // starts of further words in the chunk, in order

  /// Index of the word of the first non-whitespace character in these bytes; -1 if there is none.
  int64_t word_of(size_t begin, size_t bytes) const;
};

/// Splits the text at special pieces and as `split` says. An invalid UTF-8 byte becomes U+FFFD. Words are determined in
/// the original text, before normalization.
std::vector<Chunk> chunks(std::string_view text, const Replacement& normalize, TokenizerSpec::Split split);

/// Whether the script of the character is written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese. Korean is written with spaces.
bool is_unspaced(char32_t character);

/// Whitespace-separated words.
std::vector<std::string> whitespace_words(std::string_view text);

/// Counts the words of a text, character by character.
class WordCounter {
 public:
  /// Index of the word of the next character; -1 for whitespace.
  int64_t next(char32_t character);
  int64_t count() const { return word_ + 1; }

 private:
  int64_t word_ = -1;
  bool inside_ = false;  // inside a word
};

}  // namespace heed
