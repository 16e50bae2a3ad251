#include "apps/cli/demo.h"

#include <cctype>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "heed/attention/mechanism.h"

namespace heed::cli {
namespace {

std::string demo(const std::string& mechanism, int64_t steps) {
  std::ostringstream out;
  run_demo(out, {.mechanism = mechanism, .steps = steps});
  return out.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every word of the catalogue, in a mechanism with a plain partner; every dimensionality of every score.
std::set<std::string> mechanisms() {
  std::set<std::string> all;
  for (const auto& name : Catalogue<Score>::names()) {
    auto words = Catalogue<Score>::describe(name).variants;
    words.push_back(name);
    for (const auto& score : words) all.insert(score + " + softmax");
    const auto score = Catalogue<Score>::make(name);
    for (const auto d : {Dimensionality::multi, Dimensionality::elementwise, Dimensionality::lift})
      if (score->refuse(d).empty()) all.insert(name + " + softmax, " + heed::words(d));
  }
  for (const auto& name : Catalogue<Alignment>::names()) {
    auto words = Catalogue<Alignment>::describe(name).variants;
    words.push_back(name);
    for (const auto& align : words) all.insert("additive + " + align);
    all.insert("self_attentive + " + name);
    all.insert("general + " + name + ", multi(lift)");
  }
  return all;
}

class EveryMechanism : public testing::TestWithParam<std::string> {};

TEST_P(EveryMechanism, CanBeShown) {
  const auto text = demo(GetParam(), 2);
  for (const char* expected : {"scores", "weights", "found", "汤姆", "words found above", "composed"})
    EXPECT_TRUE(has(text, expected)) << expected << " is missing in\n" << text;
  EXPECT_FALSE(has(text, "nan")) << text;
}

INSTANTIATE_TEST_SUITE_P(Demo, EveryMechanism, testing::ValuesIn(mechanisms()), [](const auto& test) {
  std::string name;
  for (const char letter : test.param) name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
});

TEST(Demo, LearnsEveryWordByBackpropagationAndByReward) {
  for (const char* mechanism : {"additive + softmax", "additive + hard"})
    EXPECT_TRUE(has(demo(mechanism, 300), "9 of 9 words found above")) << demo(mechanism, 300);
}

TEST(Demo, SaysWhenAMechanismCannotLearnTheTask) {
  EXPECT_TRUE(has(demo("self_attentive + softmax", 100), "Its query is learned once for all words"));
  EXPECT_TRUE(has(demo("location + softmax", 100), "Its scores look at places"));
}

TEST(Demo, IsTheSameTwice) {
  const auto once = demo("additive + gumbel_softmax", 5);
  EXPECT_EQ(once, demo("additive + gumbel_softmax", 5));
}

TEST(Demo, RefusesWhatItCannotShow) {
  EXPECT_THROW(demo("additive + softmax", 0), Error);
  EXPECT_THROW(demo("self_attentive(queries=4) + softmax", 1), Error);
  EXPECT_THROW(demo("aditive + softmax", 1), Error);
}

}  // namespace
}  // namespace heed::cli
