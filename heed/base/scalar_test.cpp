// Text to numbers and booleans.

#include "heed/base/scalar.h"

#include <cmath>

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Scalar, ReadsNumbersAsYamlWritesThem) {
  const std::pair<const char*, double> cases[] = {
      {"3", 3},   {"-.5", -.5}, {"+1e-3", 1e-3},    {"5e-4", 5e-4},       {"1.0E+2", 100},
      {"007", 7}, {"5.", 5},    {".inf", INFINITY}, {"-.inf", -INFINITY}, {"0", 0}};
  for (const auto& [text, expected] : cases) {
    double value = -1;
    EXPECT_TRUE(read_number(text, value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
}

TEST(Scalar, TakesNothingElseForANumber) {
  double value = 0;
  for (const char* text : {"", "-", "+", ".", "e5", "fast", "inf", "nan", ".nan", "1e", "3 %", " 3", "3 ", "1,5",
                           "0x10", "1e999", "++1", "-+1", "+-"})
    EXPECT_FALSE(read_number(text, value)) << text;
}

TEST(Scalar, ReadsWholeNumbers) {
  int64_t value = 0;
  EXPECT_TRUE(read_integer("9223372036854775807", value));
  EXPECT_EQ(value, INT64_MAX);
  EXPECT_TRUE(read_integer("1e5", value));
  EXPECT_EQ(value, 100000);
  EXPECT_TRUE(read_integer("-3.0", value));
  EXPECT_EQ(value, -3);
  for (const char* text : {"2.5", "9223372036854775808", "1e17", ".inf", "", "ten"})
    EXPECT_FALSE(read_integer(text, value)) << text;
}

TEST(Scalar, ReadsYesAndNo) {
  bool value = false;
  for (const char* text : {"true", "True", "YES", "on"}) EXPECT_TRUE(read_flag(text, value) && value) << text;
  for (const char* text : {"false", "no", "Off"}) EXPECT_TRUE(read_flag(text, value) && !value) << text;
  for (const char* text : {"", "1", "0", "y", "truee"}) EXPECT_FALSE(read_flag(text, value)) << text;
}

TEST(Scalar, WritesNumbersThatReadBackTheSame) {
  for (const double number : {0.1, 1e-3, 1e-9, 1e22, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, 100000.0}) {
    double back = 7;
    ASSERT_TRUE(read_number(written_number(number), back)) << written_number(number);
    EXPECT_EQ(back, number);
  }
  EXPECT_EQ(written_number(0.001), "0.001");
  EXPECT_EQ(written_number(1e-9), "1.0e-09");
  EXPECT_EQ(written_number(-INFINITY), "-.inf");
}

TEST(Scalar, KnowsWhichTextsNeedQuotes) {
  for (const char* text : {"", "~", "null", "yes", "1e5", "007"}) EXPECT_TRUE(needs_quotes(text)) << text;
  for (const char* text : {"additive + softmax", "yes!", "a.en"}) EXPECT_FALSE(needs_quotes(text)) << text;
}

}  // namespace
}  // namespace heed
