// BLEU, chrF and TER of two WMT17 systems, English to German, to all decimals given in sacreBLEU's repository. The
// tests are skipped if ../shared/data/mt-metric-fixtures does not exist; HEED_DATA names the data folder.

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/ter.h"
#include "heed/metrics/testing_wmt17.h"

namespace heed {
namespace {

struct Expected {
  const char* system;
  double bleu;
  std::array<double, 4> precisions;
  double brevity_penalty;
  int64_t hypothesis_length, reference_length;
  double lowercase_bleu, chrf, chrf_words, ter;
};
const std::array kExpected{Expected{"C-3MA.4959",
                                    22.6746,
                                    {56.2447, 28.738, 16.868, 10.2853},
                                    0.985339,
                                    60395,
                                    61287,
                                    23.1742,
                                    51.9533,
                                    49.1698,
                                    66.8824},
                           Expected{"uedin-nmt.4722",
                                    28.3012,
                                    {59.9192, 34.0393, 21.8008, 14.4279},
                                    1.0,
                                    62873,
                                    61287,
                                    28.9219,
                                    57.7227,
                                    55.0097,
                                    61.1985}};

class Wmt17 : public ::testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    references_ = {testing::wmt17("newstest2017.ref.de.gz")};
    hypotheses_ = testing::wmt17(std::string(GetParam().system) + ".de.gz");
    if (hypotheses_.empty()) GTEST_SKIP() << testing::kNoWmt17;
    ASSERT_EQ(hypotheses_.size(), 3004U);
  }

  static double rounded(double value, int digits) {
    return std::round(value * std::pow(10, digits)) / std::pow(10, digits);
  }

  Sentences hypotheses_;
  std::vector<Sentences> references_;
};

TEST_P(Wmt17, HasItsBleu) {
  const Expected& expected = GetParam();
  const Bleu found = bleu(hypotheses_, references_);
  EXPECT_DOUBLE_EQ(rounded(found.score, 4), expected.bleu);
  for (size_t n = 0; n < 4; ++n) EXPECT_DOUBLE_EQ(rounded(found.precisions[n], 4), expected.precisions[n]);
  EXPECT_DOUBLE_EQ(rounded(found.brevity_penalty, 6), expected.brevity_penalty);
  EXPECT_EQ(found.counts.hypothesis_length, expected.hypothesis_length);
  EXPECT_EQ(found.counts.reference_length, expected.reference_length);
  EXPECT_DOUBLE_EQ(rounded(bleu(hypotheses_, references_, {.lowercase = true}).score, 4), expected.lowercase_bleu);
}

TEST_P(Wmt17, HasItsChrf) {
  EXPECT_DOUBLE_EQ(rounded(chrf(hypotheses_, references_).score, 4), GetParam().chrf);
  EXPECT_DOUBLE_EQ(rounded(chrf(hypotheses_, references_, {.word_order = 2}).score, 4), GetParam().chrf_words);
}

TEST_P(Wmt17, HasItsTer) {
  EXPECT_DOUBLE_EQ(rounded(ter(hypotheses_, references_).score, 4), GetParam().ter);
}

INSTANTIATE_TEST_SUITE_P(C3ma, Wmt17, ::testing::Values(kExpected[0]));
INSTANTIATE_TEST_SUITE_P(Uedin, Wmt17, ::testing::Values(kExpected[1]));

}  // namespace
}  // namespace heed
