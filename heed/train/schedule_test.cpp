// Learning-rate schedules, with numbers that are easy to verify.

#include "heed/train/schedule.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {
namespace {

double factor(const std::string& spec, int64_t step, int64_t steps = 0) {
  return Schedule::make(spec, {.steps = steps})->factor(step);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Schedule, WarmsUpOnAStraightLine) {
  for (const std::string spec :
       {"constant(warmup_steps=4)", "inverse_sqrt(4)", "cosine(4, 20)", "linear(4, 20)", "plateau(warmup_steps=4)"}) {
    EXPECT_EQ(factor(spec, 1), 0.25) << spec;
    EXPECT_EQ(factor(spec, 3), 0.75) << spec;
    EXPECT_EQ(factor(spec, 4), 1) << spec;
  }
}

TEST(Schedule, MayBeConstant) {
  EXPECT_EQ(factor("constant", 1), 1);
  EXPECT_EQ(factor("constant", 1000000), 1);
  EXPECT_EQ(factor("plateau", 1), 1);
}

// d^-0.5 min(s^-0.5, s w^-1.5), equation 3 of the paper, at d = 512, w = 4000.
TEST(Schedule, IsThatOfTheTransformer) {
  const double d = 512, w = 4000, rate = 1 / std::sqrt(d * w);
  for (const int64_t step : {1, 100, 3999, 4000, 4001, 100000}) {
    const auto s = static_cast<double>(step);
    const double paper = std::min(1 / std::sqrt(s), s * std::pow(w, -1.5)) / std::sqrt(d);
    EXPECT_NEAR(rate * factor("inverse_sqrt", step), paper, 1e-15 + 1e-12 * paper) << step;
  }
  EXPECT_EQ(factor("inverse_sqrt(warmup_steps=100)", 400), 0.5);
}

TEST(Schedule, FallsOnACosineOrALine) {
  EXPECT_NEAR(factor("cosine(100, total=300)", 200), 0.5, 1e-15);
  EXPECT_NEAR(factor("cosine(total=300)", 100), 0.75, 1e-15);  // (1 + cos 60 degrees) / 2
  EXPECT_NEAR(factor("cosine(total=300, floor=0.1)", 300), 0.1, 1e-15);
  EXPECT_NEAR(factor("cosine(total=300, floor=0.1)", 999), 0.1, 1e-15);
  EXPECT_EQ(factor("linear(100, 300)", 150), 0.75);
  EXPECT_EQ(factor("linear(100, 300)", 300), 0);
  EXPECT_EQ(factor("linear(total=300, floor=0.5)", 150), 0.75);
}

TEST(Schedule, KnowsTheStepsOfTheRun) {
  EXPECT_EQ(factor("linear", 25, /*steps=*/100), 0.75);
  EXPECT_EQ(factor("linear(total=50)", 25, /*steps=*/100), 0.5);
  EXPECT_EQ(refusal([] { Schedule::make("cosine(100)", {}); }),
            "schedule/cosine: the run has no last step, expected cosine(total=20000) or a number of epochs");
}

TEST(Plateau, HalvesWhenNothingGetsBetter) {
  const auto schedule = Schedule::make("plateau(patience=2)", {.better = Better::higher});
  const std::pair<double, double> validations[] = {{10, 1},   {9, 1},    {8, 0.5}, {9.5, 0.5},
                                                   {11, 0.5}, {11, 0.5}, {9, 0.25}};
  for (const auto& [bleu, expected] : validations) {
    schedule->validated(bleu);
    EXPECT_EQ(schedule->factor(7), expected) << bleu;
  }
}

TEST(Plateau, DoesNotFallBelowItsFloor) {
  const auto schedule = Schedule::make("plateau(0.1, patience=1, floor=0.05)", {});
  for (int i = 0; i < 5; ++i) schedule->validated(i);
  EXPECT_EQ(schedule->factor(1), 0.05);
}

TEST(Plateau, GoesOnFromItsState) {
  const auto first = Schedule::make("plateau(0.3, patience=2)", {}),
             second = Schedule::make("plateau(0.3, patience=2)", {});
  for (const double loss : {1.0 / 3, 0.5, 0.6, 0.4}) first->validated(loss);
  second->restore(nlohmann::json::parse(first->state().dump()));
  for (const double loss : {0.35, 0.3, 0.4, 0.4}) {
    first->validated(loss), second->validated(loss);
    EXPECT_EQ(first->factor(1), second->factor(1)) << loss;
  }
  EXPECT_NEAR(first->factor(1), 0.3 * 0.3 * 0.3, 1e-15);
  EXPECT_THROW(second->restore(nlohmann::json::object()), Error);
}

TEST(Schedule, HasNoStateExceptForPlateau) {
  const auto schedule = Schedule::make("cosine(total=9)", {});
  const double before = schedule->factor(3);
  schedule->validated(1), schedule->validated(2), schedule->validated(3);
  EXPECT_EQ(schedule->factor(3), before);
  EXPECT_EQ(schedule->state().dump(), "{}");
  schedule->restore(schedule->state());
}

TEST(Schedule, StaysBetweenZeroAndOneForEverySpec) {
  for (const auto& name : Schedule::Parts::names()) {
    auto variants = Schedule::Parts::describe(name).variants;
    variants.push_back(name);
    for (const auto& spec : variants) {
      const auto schedule = Schedule::make(spec, {.steps = 2000});
      for (int64_t step = 1; step <= 3000; ++step) {
        const double now = schedule->factor(step);
        ASSERT_TRUE(0 <= now && now <= 1) << spec << " at " << step << ": " << now;
      }
    }
  }
}

TEST(Schedule, IsRefusedWithTheReason) {
  const auto said = [](const std::string& spec) { return refusal([&] { factor(spec, 1); }); };
  EXPECT_EQ(said("cosin"),
            "schedule: no part called 'cosin' (did you mean 'cosine'?); known: constant, cosine, inverse_sqrt, linear, "
            "plateau");
  EXPECT_EQ(said("inverse_sqrt(0)"), "schedule/inverse_sqrt: warmup_steps is 0, expected 1 step or more");
  EXPECT_EQ(said("constant(warmup_steps=-1)"), "schedule/constant: warmup_steps is -1, expected 0 steps or more");
  EXPECT_EQ(said("linear(100, 50)"),
            "schedule/linear: total is 50, expected more than warmup_steps = 100; lower warmup_steps, or train for "
            "more steps");
  EXPECT_EQ(said("linear(total=50, floor=2)"), "schedule/linear: floor is 2, expected 0 <= floor <= 1");
  EXPECT_EQ(said("plateau(2)"), "schedule/plateau: factor is 2, expected 0 < factor < 1");
  EXPECT_EQ(said("inverse_sqrt(warmup_step=3)"),
            "schedule/inverse_sqrt: unknown option 'warmup_step' (did you mean 'warmup_steps'?); known: warmup_steps "
            "(number; 4000)");
  EXPECT_EQ(refusal([] { factor("constant", 0); }), "schedule: step is 0, expected 1 for the first update");
}

}  // namespace
}  // namespace heed
