// data.max_length limits the tokens of each side.

#include "heed/data/recipe.h"
#include "heed/data/testing.h"
#include "heed/train/task.h"

namespace heed::testing {
namespace {

class TranslateLengths : public FolderTest {
 protected:
  /// Three short pairs, and one whose source or target is `text`.
  std::shared_ptr<Task> task(const std::string& tokenizer, const std::string& text, bool in_target,
                             const std::vector<std::string>& more = {}) const {
    write("train.en", "a b c\nb c a\nc a b\n" + (in_target ? "a" : text) + "\n");
    write("train.de", "x y z\ny z x\nz x y\n" + (in_target ? text : "x") + "\n");
    write("dev.en", "a b\nb a\n");
    write("dev.de", "x y\ny x\n");
    const Settings recipe = parse_recipe(
        "{data: {root: " + folder_ +
            ", train: [train.en, train.de], dev: [dev.en, dev.de], max_length: 5, tokenizer: " + tokenizer +
            "}, model: {embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}}",
        "toy.yaml", more);
    recipe.choice("task", {"translate"});
    return Task::Parts::make("translate", recipe, TaskEnvironment{folder_, at::kCPU, false});
  }
};

TEST_F(TranslateLengths, CountTokensOnEitherSideWhateverTheTokenizer) {
  const std::string said =
      "left out 1 of 4 training pairs: a side is empty or has more than data.max_length = 5 tokens";
  for (const bool in_target : {false, true}) {
    EXPECT_EQ(task("words", "a b c a b c", in_target)->remarks(), said);
    EXPECT_EQ(task("words", "a b c a b", in_target)->remarks(), "");
    EXPECT_EQ(task("bpe(merges=0)", "abcabc", in_target)->remarks(), said);  // one word of six tokens
    EXPECT_EQ(task("characters", "汤姆追逐杰瑞", in_target)->remarks(), said);
  }
}

TEST_F(TranslateLengths, KeepAWordOfManyLettersOutOfTraining) {
  const auto made = task("bpe(merges=10)", std::string(200'000, 'a'), /*in_target=*/false);
  EXPECT_NE(made->remarks().find("left out 1 of 4"), std::string::npos);
  int64_t count = 0;
  for (int64_t batch = 0; batch < made->batches(0); ++batch) count += made->loss({0, batch, 0, 1}).count;
  EXPECT_LT(count, 100);
}

TEST_F(TranslateLengths, RefuseALimitThatExcludesAllPairs) {
  const auto with = [&](const std::string& text) {
    return error_of([&] { task("characters", text, false, {"data.max_length=1"}); });
  };
  EXPECT_EQ(with("a"), "no error");
  EXPECT_EQ(
      with("ab"),
      "recipe: data.max_length is 1, but none of 1 training pairs has at most so many tokens on both sides; raise it "
      "[command line]");
}

TEST_F(TranslateLengths, RefuseAVeryLongLineOfDev) {
  std::string words;
  for (int i = 0; i < 2000; ++i) words += "x ";
  const std::string dev = write("long.de", "x\n" + words + "\n");
  EXPECT_EQ(error_of([&] { task("words", "a", false, {"data.dev=[dev.en, long.de]"}); }),
            path("dev.en") + ":2 and " + dev +
                ":2: got 2000 tokens, expected at most 1024; break the line into sentences, or raise data.max_length");
  EXPECT_EQ(error_of([&] {
              task("words", "a", false, {"data.dev=[dev.en, long.de]", "data.max_length=2000"});
            }),
            "no error");
}

}  // namespace
}  // namespace heed::testing
