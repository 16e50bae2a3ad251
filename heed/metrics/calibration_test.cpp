#include "heed/metrics/calibration.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

constexpr double kClose = 1e-15;  // numbers up to 2, with a few rounding errors each
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// (0, .5]: confidence .2, accuracy 1/2; (.5, 1]: confidence .9, accuracy 1/3
TEST(Calibration, ComparesConfidenceWithAccuracy) {
  const auto found = calibration({.1, .9, .3, .9, .9}, {false, true, true, false, false}, 2);
  EXPECT_NEAR(found.expected_error, (2 * .3 + 3 * (.9 - 1.0 / 3)) / 5, kClose);
  EXPECT_NEAR(found.max_error, .9 - 1.0 / 3, kClose);
  ASSERT_EQ(found.bins.size(), 2U);
  EXPECT_EQ(found.bins[0].count, 2);
  EXPECT_EQ(found.bins[1].count, 3);
  EXPECT_NEAR(found.bins[0].confidence, .2, kClose);
  EXPECT_NEAR(found.bins[1].confidence, .9, kClose);
  EXPECT_NEAR(found.bins[0].accuracy, 1.0 / 2, kClose);
  EXPECT_NEAR(found.bins[1].accuracy, 1.0 / 3, kClose);
}

TEST(Calibration, IsPerfectWhereConfidenceIsAccuracy) {
  const auto found = calibration({.75, .75, .75, .75, 0, 1}, {true, true, false, true, false, true});
  EXPECT_EQ(found.expected_error, 0);
  EXPECT_EQ(found.max_error, 0);
}

std::vector<int64_t> counts(double confidence, int64_t bins) {
  std::vector<int64_t> all;
  for (const auto& bin : calibration({confidence}, {true}, bins).bins) all.push_back(bin.count);
  return all;
}

TEST(Calibration, PutsABoundIntoTheBinThatItEnds) {
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(counts(0, 2), (Counts{1, 0}));
  EXPECT_EQ(counts(.5, 2), (Counts{1, 0}));
  EXPECT_EQ(counts(std::nextafter(.5, 1), 2), (Counts{0, 1}));
  EXPECT_EQ(counts(1, 2), (Counts{0, 1}));
  EXPECT_EQ(counts(.1 * 3, 10)[3], 1);  // .1 * 3 is .30000000000000004, above 3 / 10
  EXPECT_EQ(counts(.3, 10)[2], 1);
}

TEST(Calibration, HasFifteenBinsByDefaultEmptyOnesIncluded) {
  const auto found = calibration({.5}, {true});
  ASSERT_EQ(found.bins.size(), 15U);
  EXPECT_EQ(found.bins[0].min, 0);
  EXPECT_EQ(found.bins[0].max, 1.0 / 15);
  EXPECT_EQ(found.bins[14].min, 14.0 / 15);
  EXPECT_EQ(found.bins[14].max, 1);
  EXPECT_EQ(found.bins[7].count, 1);  // 7/15 = .467, 8/15 = .533
  EXPECT_EQ(found.bins[6].count, 0);
  EXPECT_EQ(found.bins[6].confidence, 0);
  EXPECT_EQ(found.bins[6].accuracy, 0);
}

TEST(Calibration, RefusesWhatIsNoProbability) {
  EXPECT_EQ(refusal([] {
              calibration({.5, 1.5}, {true, true});
            }),
            "metrics/calibration: got the confidence 1.5 for example 1, expected 0 to 1");
  EXPECT_EQ(refusal([] { calibration({-.5}, {true}); }),
            "metrics/calibration: got the confidence -0.5 for example 0, expected 0 to 1");
  EXPECT_EQ(refusal([] { calibration({kNaN}, {true}); }),
            "metrics/calibration: got the confidence nan for example 0, expected 0 to 1");
}

TEST(Calibration, RefusesDifferentNumbersOfExamplesAndNone) {
  EXPECT_EQ(refusal([] {
              calibration({.5, .5}, {true});
            }),
            "metrics/calibration: got 2 confidences for 1 examples, expected equal numbers");
  EXPECT_EQ(refusal([] { calibration({}, {}); }), "metrics/calibration: got no examples, expected at least 1");
  EXPECT_EQ(refusal([] { calibration({.5}, {true}, 0); }), "metrics/calibration: got 0 bins, expected at least 1");
}

// (.5 - 1)^2 + .3^2 + .2^2 = .38; 1 + 1 = 2
TEST(BrierScore, SumsSquaresOverClasses) {
  EXPECT_NEAR(brier_score({{.5, .3, .2}}, {0}), .38, kClose);
  EXPECT_NEAR(brier_score({{.5, .3, .2}, {0, 1, 0}}, {0, 2}), (.38 + 2) / 2, kClose);
  EXPECT_EQ(brier_score({{0, 1, 0}}, {1}), 0);
}

TEST(BrierScore, RefusesWhatIsNoProbabilityOrNoClass) {
  EXPECT_EQ(refusal([] {
              brier_score({{.5, .5}, {0, 2}}, {0, 0});
            }),
            "metrics/brier_score: got the probability 2 of class 1 for example 1, expected 0 to 1");
  EXPECT_EQ(refusal([] {
              brier_score({{kNaN, .5}}, {0});
            }),
            "metrics/brier_score: got the probability nan of class 0 for example 0, expected 0 to 1");
  EXPECT_EQ(refusal([] {
              brier_score({{.5, .5}}, {2});
            }),
            "metrics/brier_score: got gold class 2 for example 0, expected 0 to 1");
  EXPECT_EQ(refusal([] {
              brier_score({{.5, .5}}, {-1});
            }),
            "metrics/brier_score: got gold class -1 for example 0, expected 0 to 1");
}

TEST(BrierScore, RefusesDifferentNumbersAndNone) {
  EXPECT_EQ(refusal([] {
              brier_score({{.5, .5}, {1}}, {0, 0});
            }),
            "metrics/brier_score: got 1 probabilities for example 1, expected 2");
  EXPECT_EQ(refusal([] {
              brier_score({{1}}, {0, 0});
            }),
            "metrics/brier_score: got 1 predicted and 2 gold values, expected equal numbers");
  EXPECT_EQ(refusal([] { brier_score({}, {}); }), "metrics/brier_score: got no examples, expected at least 1");
  EXPECT_EQ(refusal([] { brier_score({{}}, {0}); }), "metrics/brier_score: got no classes, expected at least 1");
}

}  // namespace
}  // namespace heed
