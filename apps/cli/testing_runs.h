// Tests of the program on tiny runs, which a suite trains once for all its tests. Each test has a folder of its own.

#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/testing_program.h"
#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::cli {

/// A classifier of the built-in reviews, trained in ten steps.
constexpr const char* kReviewRecipe = R"(task: classify
data: {train: reviews, reviews: {train: 200, dev: 10, test: 20}, lowercase: true, tokenizer: words}
model:
  embedding: {dim: 8, dropout: 0}
  features: {kind: convolution, dim: 8}
  attention: self_attentive + softmax
train: {max_epochs: 0, max_steps: 10, batch_tokens: 600, lr: 0.01, validate_every: 1000}
)";

/// A translator of the built-in sentences, trained in two steps.
constexpr const char* kTranslatorRecipe = R"(task: translate
data: {train: grammar, grammar: {train: 50, dev: 4, test: 4}, tokenizer: words}
model: {embedding: {dim: 8, dropout: 0}, features: {dim: 8}, query: {state_dim: 8}, attention: additive + softmax}
train: {max_epochs: 0, max_steps: 2, batch_tokens: 600, validate_every: 1000}
eval: {tokenize: none, beam: 1}
)";

/// A suite makes what it needs in SetUpTestSuite(), with write_shared() and train().
class ProgramRuns : public testing::FolderTest {
 protected:
  static void TearDownTestSuite() { shared_.reset(); }

  /// The folder of the trained runs, which is removed after the last test of the suite.
  static const std::string& shared_folder() {
    if (!shared_) shared_ = std::make_unique<Shared>();
    return shared_->folder_;
  }
  static std::string runs(const std::string& name) { return shared_folder() + "/" + name; }
  static void write_shared(const std::string& name, const std::string& content) {
    std::ofstream(runs(name)) << content;
  }
  /// heed train in the folder of the runs.
  static void train(std::vector<std::string> more) {
    more.insert(more.begin(), {"--threads", "1", "train"});
    more.emplace_back("--quiet");
    const Outcome trained = Process(shared_folder(), more).wait();
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  Outcome run(std::vector<std::string> arguments, const Start& start = {}) const {
    arguments.insert(arguments.begin(), {"--threads", "1"});
    return Process(folder_, arguments, start).wait();
  }

 private:
  struct Shared : testing::FolderTest {
    using FolderTest::folder_;
    void TestBody() override {}
  };
  inline static std::unique_ptr<Shared> shared_;
};

}  // namespace heed::cli
