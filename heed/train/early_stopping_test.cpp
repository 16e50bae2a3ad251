// Tests of early stopping.

#include "heed/train/early_stopping.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {
namespace {

TEST(EarlyStopping, WaitsForItsPatience) {
  EarlyStopping stopping(2, Better::lower);
  EXPECT_FALSE(stopping.has_best());
  EXPECT_TRUE(stopping.validated(3));
  EXPECT_TRUE(stopping.validated(2));
  EXPECT_FALSE(stopping.validated(2));  // equal is not better
  EXPECT_FALSE(stopping.exhausted());
  EXPECT_FALSE(stopping.validated(2.5));
  EXPECT_TRUE(stopping.exhausted());
  EXPECT_EQ(stopping.best(), 2);
}

TEST(EarlyStopping, ResetsItsCountAtEachBest) {
  EarlyStopping stopping(2, Better::higher);
  for (const double bleu : {10.0, 9.0, 11.0, 10.5}) stopping.validated(bleu);
  EXPECT_EQ(stopping.waited(), 1);
  EXPECT_FALSE(stopping.exhausted());
  EXPECT_EQ(stopping.best(), 11);
}

TEST(EarlyStopping, IgnoresNonFiniteMetrics) {
  EarlyStopping stopping(2, Better::higher);
  EXPECT_FALSE(stopping.validated(std::nan("")));
  EXPECT_FALSE(stopping.validated(INFINITY));
  EXPECT_TRUE(stopping.exhausted());
  EXPECT_FALSE(stopping.has_best());
  EXPECT_TRUE(stopping.validated(-5));
}

TEST(EarlyStopping, NeverStopsWithoutPatience) {
  EarlyStopping stopping(0, Better::lower);
  for (int i = 0; i < 100; ++i) stopping.validated(i);
  EXPECT_FALSE(stopping.exhausted());
  EXPECT_THROW(EarlyStopping(-1, Better::lower), Error);
}

TEST(EarlyStopping, GoesOnFromItsState) {
  EarlyStopping first(3, Better::lower);
  first.validated(1.0 / 3), first.validated(0.5);
  EarlyStopping second(3, Better::lower);
  second.restore(nlohmann::json::parse(first.state().dump()));
  EXPECT_EQ(second.best(), 1.0 / 3);  // to the last bit
  EXPECT_EQ(second.waited(), 1);
  EXPECT_EQ(second.state(), first.state());

  EarlyStopping fresh(3, Better::lower);
  fresh.restore(EarlyStopping(3, Better::lower).state());
  EXPECT_FALSE(fresh.has_best());
  EXPECT_THROW(fresh.restore({{"best", 1.5}}), Error);
  EXPECT_THROW(fresh.restore({{"best", "x"}, {"waited", 1}}), Error);
}

}  // namespace
}  // namespace heed
