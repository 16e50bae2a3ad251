// Specs of parts and mechanisms, valid and invalid.

#include "heed/base/spec.h"

#include <functional>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Part, HasANameAndOptions) {
  const auto part = parse_part("  local_p( 3 ,form = renorm) ", "alignment");
  EXPECT_EQ(part.name, "local_p");
  EXPECT_EQ(part.to_string(), "local_p(3, form=renorm)");
  EXPECT_EQ(part.options.part(), "alignment/local_p");
  EXPECT_EQ(part.options.integer("window", 10), 3);
  EXPECT_EQ(part.options.choice("form", {"plain", "renorm"}), "renorm");
  part.options.refuse_unread();
}

TEST(Part, NeedsNoOptions) {
  const auto part = parse_part("softmax", "alignment");
  EXPECT_TRUE(part.options.empty());
  EXPECT_EQ(part.to_string(), "softmax");
  EXPECT_EQ(parse_part("softmax()", "alignment").to_string(), "softmax");
}

TEST(Options, TakeBareValuesInTheOrderOfTheReads) {
  const auto options = parse_part("x(2.5, renorm, 7)", "alignment").options;
  EXPECT_EQ(options.number("first", 0), 2.5);
  EXPECT_EQ(options.integer("second", 0), 7);
  EXPECT_TRUE(options.flag("renorm"));
}

TEST(Options, KeepNamedValuesForTheirNames) {
  const auto options = parse_part("x(second=7, 3)", "alignment").options;
  EXPECT_EQ(options.integer("first", 0), 3);
  EXPECT_EQ(options.integer("second", 0), 7);
}

TEST(Options, HaveDefaults) {
  const auto options = parse_part("x", "alignment").options;
  EXPECT_EQ(options.number("alpha", 1.5), 1.5);
  EXPECT_EQ(options.choice("form", {"plain", "renorm"}), "plain");
  EXPECT_FALSE(options.flag("clamp"));
  EXPECT_TRUE(options.flag("bias", true));
}

TEST(Options, ReadFlagsWithAValue) {
  EXPECT_FALSE(parse_part("x(bias=false)", "score").options.flag("bias", true));
  EXPECT_TRUE(parse_part("x(bias=true)", "score").options.flag("bias", false));
}

TEST(Options, ListTheOptionsThatWereRead) {
  const auto options = parse_part("x", "alignment").options;
  options.number("alpha", 1.5);
  options.flag("learned");
  ASSERT_EQ(options.known().size(), 2U);
  EXPECT_EQ(options.known()[0].name, "alpha");
  EXPECT_EQ(options.known()[0].default_value, "1.5");
  EXPECT_EQ(options.known()[1].name, "learned");
}

TEST(Options, RefuseWhatWasNotRead) {
  const auto ask = [](const std::string& spec) {
    return [spec] {
      const auto part = parse_part(spec, "alignment");
      part.options.number("alpha", 1.5);
      part.options.flag("learned");
      part.options.refuse_unread();
    };
  };
  EXPECT_EQ(message(ask("entmax(1.5, learned)")), "nothing was refused");
  EXPECT_EQ(message(ask("entmax(lerned)")),
            "alignment/entmax: unknown option 'lerned' (did you mean 'learned'?); known: alpha (number; 1.5), learned "
            "(true | false; false)");
  EXPECT_EQ(message(ask("entmax(1.5, 2)")),
            "alignment/entmax: unknown option '2'; known: alpha (number; 1.5), learned (true | false; false)");
}

TEST(Options, RefuseAWrongValue) {
  EXPECT_EQ(message([] { parse_part("x(k=two)", "alignment").options.number("k", 1); }),
            "alignment/x: option 'k' is 'two', expected a number");
  EXPECT_EQ(message([] { parse_part("x(k=2.5)", "alignment").options.integer("k", 1); }),
            "alignment/x: option 'k' is 2.5, expected a whole number");
  EXPECT_EQ(message([] { parse_part("x(k=nan)", "alignment").options.number("k", 1); }),
            "alignment/x: option 'k' is 'nan', expected a number");
  EXPECT_EQ(message([] { parse_part("x(renorm=yes)", "alignment").options.flag("renorm"); }),
            "alignment/x: option 'renorm' is 'yes', expected true or false");
  EXPECT_EQ(message([] {
              parse_part("x(form=plan)", "alignment").options.choice("form", {"plain", "renorm"});
            }),
            "alignment/x: option 'form' is 'plan', expected one of plain, renorm (did you mean 'plain'?)");
  EXPECT_EQ(message([] { parse_part("x(k=1, k=2)", "alignment"); }), "alignment/x: option 'k' is given twice");
}

TEST(Part, RefusesBrokenBrackets) {
  for (const std::string spec :
       {"", "(3)", "x(3", "x)3", "x(3)y", "x((3)", "x(3))", "x(,)", "x(=3)", "x(k=)", "x(1,)"}) {
    EXPECT_THROW(parse_part(spec, "alignment"), Error) << spec;
  }
}

TEST(Mechanism, IsAScoreAnAlignmentAndADimensionality) {
  const auto spec = parse_mechanism("additive(relu, bias=false) + entmax(1.5), multi(lift)");
  EXPECT_EQ(spec.score.to_string(), "additive(relu, bias=false)");
  EXPECT_EQ(spec.align.to_string(), "entmax(1.5)");
  EXPECT_EQ(spec.dimensionality.to_string(), "multi(lift)");
  EXPECT_EQ(parse_mechanism("dot+softmax").dimensionality.name, "single");
}

TEST(Mechanism, IsShownTruncatedInErrors) {
  const std::string said = message([] { parse_mechanism("\x1b" + std::string(100'000, 'x')); });
  EXPECT_NE(said.find("'\\x1bxxx"), std::string::npos) << said;
  EXPECT_LT(said.size(), 300U);
}

TEST(Mechanism, RefusesMalformedSpecs) {
  for (const std::string spec :
       {"", "dot", "dot +", "+ softmax", "dot + softmax + softmax", "dot + softmax, multi, multi", "dot + softmax,"}) {
    EXPECT_THROW(parse_mechanism(spec), Error) << spec;
  }
  EXPECT_EQ(
      message([] { parse_mechanism("dot"); }),
      "mechanism: got 'dot', expected 'score + alignment' or 'score + alignment, multi', as in 'additive + softmax'");
}

}  // namespace
}  // namespace heed
