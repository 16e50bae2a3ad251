// Characters as pieces. A space is written U+2581 (LOWER ONE EIGHTH BLOCK), as in SentencePiece; a U+2581 in the text
// is decoded as a space.

#include "heed/base/utf8.h"
#include "heed/data/tokenizer.h"
#include "heed/data/tokenizer/counted.h"

namespace heed {
namespace {

constexpr const char* kSpace = "\u2581";

class Characters final : public TokenizerTrainer {
 public:
  explicit Characters(const Options& options) : choice_(options) {}

  TokenizerSpec learn(const std::vector<std::string>& lines) const override {
    TokenizerSpec spec;
    spec.normalize = {" ", kSpace};
    spec.decoder = TokenizerSpec::Decoder::replace;
    spec.decode = {kSpace, " "};
    TokenCounts counts;
    for (const auto& [text, count] : count_chunks(lines, spec.normalize, spec.split)) {
      for (const char32_t c : decoded(text)) counts[encoded(c)] += count;
    }
    spec.pieces = choice_.pieces(counts);
    return spec;
  }

 private:
  Choice choice_;
};

const Catalogue<TokenizerTrainer>::Entry characters_entry{
    "characters",
    make_part<TokenizerTrainer, Characters>,
    {.formula = "a piece is a character",
     .paper = "-",
     .cost = "one piece for each character",
     .choose = "scripts without whitespace, such as Chinese; spelling",
     .variants = {"characters(min_count=2)"},
     .order = 3}};

}  // namespace
}  // namespace heed
