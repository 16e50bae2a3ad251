// The most frequent whitespace-separated words.

#include "heed/data/tokenizer.h"
#include "heed/data/tokenizer/counted.h"

namespace heed {
namespace {

class Words final : public TokenizerTrainer {
 public:
  explicit Words(const Options& options) : choice_(options) {}

  TokenizerSpec learn(const std::vector<std::string>& lines) const override {
    TokenizerSpec spec;
    spec.split = true;
    spec.model = TokenizerSpec::Model::words;
    spec.pieces = choice_.pieces(count_chunks(lines, {}, /*split=*/true));
    return spec;
  }

 private:
  Choice choice_;
};

const Catalogue<TokenizerTrainer>::Entry words_entry{"words",
                                                     make_part<TokenizerTrainer, Words>,
                                                     {.formula = "a piece is a word between whitespace",
                                                      .paper = "-",
                                                      .cost = "one piece for each word",
                                                      .choose = "text that is tokenized and has few different words",
                                                      .variants = {"words(vocabulary=12)", "words(min_count=2)"},
                                                      .order = 2}};

}  // namespace
}  // namespace heed
