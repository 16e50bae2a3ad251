// The report of the translation task, on sentences outside the built-in grammar.

#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/task.h"
#include "heed/train/train_options.h"

namespace heed::testing {
namespace {

class Evaluation : public ::testing::Test {
 protected:
  Evaluation() {
    write_atomically(folder_.path("a.en"), "The Cat sleeps\nA dog barks loudly\nThe bird\n");
    write_atomically(folder_.path("a.de"), "Die Katze schläft\nEin Hund bellt laut\nDer Vogel\n");
    write_atomically(folder_.path("b.en"), "The Zebra sleeps\nA dog\nNobody knows the Cat\n");
    write_atomically(folder_.path("b.de"), "Das Zebra schläft\nEin Hund\nNiemand kennt die Katze\n");
    write_atomically(folder_.path("b.zh"), "斑马在睡觉。\n一只狗\n没有人 知道\n");
  }

  std::shared_ptr<Task> task(const std::vector<std::string>& overrides = {}) {
    const std::string text = "task: translate\ndata: {root: " + folder_.path() +
                             ", train: [a.en, a.de], dev: [b.en, b.de], tokenizer: words}\n" +
                             "model: {embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8, out_dim: 8}}\n" +
                             "eval: {beam: 1}\n";
    const Settings recipe = parse_recipe(text, "small", overrides);
    read_train_options(recipe);
    auto made = Task::Parts::make(recipe.choice("task", Task::Parts::names()), recipe,
                                  TaskEnvironment{folder_.path(), at::kCPU, false});
    made->model().eval();
    return made;
  }

  const Folder folder_;
};

TEST_F(Evaluation, SignsBleuOfLowercasedReferences) {
  EXPECT_NE(task()->evaluate("")["dev"]["bleu_signature"].get<std::string>().find("case:mixed"), std::string::npos);
  const auto report = task({"data.lowercase=true"})->evaluate("");
  EXPECT_NE(report["dev"]["bleu_signature"].get<std::string>().find("case:lc"), std::string::npos);
}

TEST_F(Evaluation, WritesALineForEveryTranslationThoughItIsEmpty) {
  const auto made = task();
  const at::NoGradGuard no_grad;
  for (auto& item : made->model().named_parameters()) {
    item.value().zero_();
    if (item.key() == "output.bias") item.value()[Tokenizer::kEnd] = 10;  // </s> always has the best score
  }
  made->evaluate(folder_.path());
  EXPECT_EQ(read_file(folder_.path("dev.hypotheses.txt")), "\n\n\n");
}

// With all parameters 0 but two biases of the output, every step has p(Katze) = 1 / (1 + exp(-0.4)) = 0.6 and
// p(end) = 0.4, independent of the prefix; other words have less than 0.001. Greedy search never ends, because Katze is
// always more likely. Beam search with 2 beams ends with
//   ""        log 0.4 = -0.91                              |y| = 1
//   "Katze"   (log 0.6 + log 0.4) / (7 / 6)^alpha          |y| = 2: -1.43 for alpha = 0, -0.66 for alpha = 5
TEST_F(Evaluation, EvaluatesTheOutputOfItsBeamSearch) {
  const auto target = train_tokenizer("words", {"Die Katze schläft", "Ein Hund bellt laut", "Der Vogel"});
  const auto hypotheses = [&](const std::string& length_penalty) {
    const auto made = task({"eval.beam=2", "eval.length_penalty=" + length_penalty});
    const at::NoGradGuard no_grad;
    for (auto& item : made->model().named_parameters()) {
      item.value().zero_();
      if (item.key() != "output.bias") continue;
      item.value()[Tokenizer::kEnd] = 10;
      item.value()[target->encode("Katze").front()] = 10.4;
    }
    made->evaluate(folder_.path());
    return read_file(folder_.path("dev.hypotheses.txt"));
  };
  EXPECT_EQ(hypotheses("0"), "\n\n\n");
  EXPECT_EQ(hypotheses("5"), "Katze\nKatze\nKatze\n");
}

TEST_F(Evaluation, ReportsTheUnitOfLengths) {
  const auto words = task()->evaluate("")["dev"];
  EXPECT_EQ(words["source_length_unit"], "words");
  EXPECT_EQ(words["bleu_by_length"][0]["to"], 4);
  const auto characters = task({"data.dev=[b.zh, b.de]"})->evaluate("")["dev"];
  EXPECT_EQ(characters["source_length_unit"], "characters");
  EXPECT_EQ(characters["bleu_by_length"][0]["from"], 3);
  EXPECT_EQ(characters["bleu_by_length"][0]["to"], 6);
}

// "Zebra" and others are unknown to the tokenizer, but count as words: 2-2 of the first pair and 3-3 of the last are
// within the sentences, 4-0 is not.
TEST_F(Evaluation, LeavesGoldLinksOutThatAreOutOfRange) {
  write_atomically(folder_.path("gold"), "0-0 1-1 2-2\n0-0 1-1\n0-0 1-1 3-3 4-0\n");
  const auto report = task({"data.test=[b.en, b.de]", "data.links=gold"})->evaluate("")["test"];
  ASSERT_TRUE(report.contains("aer"));
  EXPECT_EQ(report["gold_links_out_of_range"], 1);
  write_atomically(folder_.path("gold"), "0-0 1-1 2-2\n0-0 1-1\n0-0 1-1 3-3\n");
  EXPECT_FALSE(
      task({"data.test=[b.en, b.de]", "data.links=gold"})->evaluate("")["test"].contains("gold_links_out_of_range"));
}

}  // namespace
}  // namespace heed::testing
