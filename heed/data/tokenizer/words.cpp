// The most frequent words between whitespace or, with `punctuation`, between whitespace and punctuation: "don't!" is
// then don, ', t, !, as in BERT.

#include "heed/data/tokenizer.h"
#include "heed/data/tokenizer/counted.h"

namespace heed {
namespace {

class Words final : public TokenizerTrainer {
 public:
  explicit Words(const Options& options)
      : choice_(options),
        split_(options.flag("punctuation") ? TokenizerSpec::Split::punctuation : TokenizerSpec::Split::whitespace) {}

  TokenizerSpec learn(const std::vector<std::string>& lines) const override {
    TokenizerSpec spec;
    spec.split = split_;
    spec.model = TokenizerSpec::Model::words;
    spec.pieces = choice_.pieces(count_chunks(lines, {}, split_));
    return spec;
  }

 private:
  Choice choice_;
  TokenizerSpec::Split split_;
};

const Catalogue<TokenizerTrainer>::Entry words_entry{
    "words",
    make_part<TokenizerTrainer, Words>,
    {.formula = "a piece is a word between whitespace; with `punctuation`, each punctuation character is one too",
     .paper = "-",
     .cost = "one piece for each word",
     .choose = "text that is tokenized and has few different words; `punctuation` for text as people write it",
     .variants = {"words(vocabulary=12)", "words(min_count=2)", "words(punctuation)"},
     .order = 2}};

}  // namespace
}  // namespace heed
