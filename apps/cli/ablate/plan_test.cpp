#include "apps/cli/ablate/plan.h"

#include <fstream>

#include "apps/cli/ablate/testing_ablation.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using testing::refuses;

class AblationPlan : public testing::FolderTest {
 protected:
  Plan plan(const std::vector<Axis>& axes, const std::string& seeds = "2",
            const std::vector<std::string>& overrides = {}) {
    std::ofstream(folder_ + "/recipe_file.yaml") << "task: classify\ntrain: {lr: 0.001, max_steps: 5}\n";
    return make_plan(folder_ + "/recipe_file.yaml", overrides, axes, parse_seeds(seeds), 1);
  }
  const std::vector<Axis> axes_{{"model.attention.score", {"dot", "general"}}, {"train.lr", {"1e-3"}}};
};

TEST_F(AblationPlan, IsReadAsItWasWritten) {
  EXPECT_FALSE(read_plan(folder_));
  const Plan written = plan(axes_, "2", {"train.max_steps=7"});
  write_plan(folder_, written);
  EXPECT_EQ(read_plan(folder_), written);
  EXPECT_NE(written.base.find("max_steps: 7"), std::string::npos);
}

TEST_F(AblationPlan, ADamagedFileIsRefused) {
  for (const char* text : {"{", "[]", R"({"format": 2})", R"({"format": 1, "recipe": 3})"}) {
    std::ofstream(folder_ + "/plan.json") << text;
    EXPECT_TRUE(refuses([&] { read_plan(folder_); }, "plan.json: got")) << text;
  }
}

TEST_F(AblationPlan, NamesWhatDiffersFromTheFolder) {
  const Plan there = plan(axes_);
  EXPECT_TRUE(differences(there, there).empty());
  const auto only = [&](const Plan& ours) {
    const auto all = differences(ours, there);
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " differences";
  };
  EXPECT_EQ(only(plan(axes_, "2", {"train.max_steps=9"})), "train.max_steps is '9', there '5'");
  EXPECT_EQ(only(plan(axes_, "2", {"train.patience=9"})), "train.patience is '9', there not given");
  EXPECT_EQ(only(plan({{"model.attention.score", {"dot"}}, axes_[1]})),
            "--vary model.attention.score lacks general, which is there");
  EXPECT_EQ(only(plan({axes_[0]})), "--vary has model.attention.score, there model.attention.score, train.lr");
  EXPECT_EQ(only(plan(axes_, "2,5")), "--seeds lacks 1, which is there");
  Plan threads = there;
  threads.threads = 2;
  EXPECT_EQ(only(threads), "--threads is 2, there 1");
}

TEST_F(AblationPlan, MoreValuesAndSeedsExtendTheGridUnderTheOldNames) {
  Plan there = plan({{"model.attention.score", {"f(1)"}}});
  Plan more = plan({{"model.attention.score", {"dot", "f(1)", "f[1]"}}}, "3");
  EXPECT_TRUE(differences(more, there).empty());
  more = continued(more, there);
  EXPECT_EQ(more.cells[1].name, "score=f_1");
  EXPECT_NE(more.cells[2].name, "score=f_1");
}

TEST_F(AblationPlan, EveryCellRunsWithTheFirstSeedFirst) {
  std::vector<std::string> titles;
  const Plan all = plan({{"model.attention.score", {"dot", "general"}}});
  for (const auto& run : runs_of(all, "out")) titles.push_back(run.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"score=dot, seed 1", "score=general, seed 1", "score=dot, seed 2",
                                              "score=general, seed 2"}));
  const GridRun last = runs_of(all, "out").back();
  EXPECT_EQ(last.folder, "out/score=general/seed-2");
  EXPECT_EQ(overrides_of(all, last), (std::vector<std::string>{"model.attention.score=general", "train.seed=2"}));
}

TEST_F(AblationPlan, AValueThatIsNoYamlIsRefused) {
  EXPECT_TRUE(refuses([&] { plan({{"data.train", {"[a}"}}}); }, "is not YAML"));
}

}  // namespace
}  // namespace heed::cli
