#include "heed/base/utf8.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {
namespace {

/// The blanks of Unicode's property White_Space. Python's are four more, U+001C to U+001F, which separate records.
bool is_white(char32_t c) {
  return is_blank(c) && !(c >= 0x1C && c <= 0x1F);
}

/// Number of the special piece at the start of the text, or -1.
int64_t special_at(std::string_view text) {
  for (size_t i = 0; i < kSpecialPieces.size(); ++i) {
    if (text.substr(0, kSpecialPieces[i].size()) == kSpecialPieces[i]) return static_cast<int64_t>(i);
  }
  return -1;
}

class Cutter {
 public:
  Cutter(const Replacement& normalise, bool split) : normalise_(normalise), split_(split) {}

  std::vector<Chunk> cut(std::string_view text) {
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
  void enter_word() {
    if (!inside_) ++word_;
    inside_ = true;
  }

  void add_special(int64_t special) {
    enter_word();
    chunks_.push_back({std::string(kSpecialPieces[static_cast<size_t>(special)]), special, word_});
  }

  void add_text(std::string_view text) {
    if (text.empty()) return;
    const std::u32string characters = decoded(normalise_(std::string(text)));
    if (!split_) {
      chunks_.push_back({encoded(characters), -1, 0});
      return;
    }
    size_t first = 0;
    for (size_t i = 0; i <= characters.size(); ++i) {
      const bool end = i == characters.size();
      if (!end && !is_white(characters[i])) continue;
      if (i > first) {
        enter_word();
        chunks_.push_back({encoded(std::u32string_view(characters).substr(first, i - first)), -1, word_});
      }
      if (!end) inside_ = false;
      first = i + 1;
    }
  }

  const Replacement& normalise_;
  bool split_;
  std::vector<Chunk> chunks_;
  int64_t word_ = -1;
  bool inside_ = false;  // no blank since the last chunk
};

}  // namespace

std::vector<Chunk> chunks(std::string_view text, const Replacement& normalise, bool split) {
  return Cutter(normalise, split).cut(text);
}

}  // namespace heed
