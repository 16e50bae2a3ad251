#include "apps/cli/ablate/vary.h"

#include "apps/cli/ablate/testing_ablation.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using testing::refuses;
using Values = std::vector<std::string>;

TEST(Vary, SplitsValuesAtCommasOutsideBracketsAndQuotes) {
  EXPECT_EQ(split_values("additive,dot , general"), (Values{"additive", "dot", "general"}));
  EXPECT_EQ(split_values("softmax,local_p(3, renorm)"), (Values{"softmax", "local_p(3, renorm)"}));
  EXPECT_EQ(split_values("[1, 2],{a: [b, c], d: e},f(g(1, 2), 3)"),
            (Values{"[1, 2]", "{a: [b, c], d: e}", "f(g(1, 2), 3)"}));
  EXPECT_EQ(split_values(R"("a, (b",'c, d]')"), (Values{R"("a, (b")", "'c, d]'"}));
  EXPECT_EQ(split_values("null"), Values{"null"});
}

TEST(Vary, RefusesValuesThatDoNotEnd) {
  EXPECT_TRUE(refuses([] { split_values("softmax,local_p(3"); }, "without its last )"));
  EXPECT_TRUE(refuses([] { split_values("a,'b"); }, "without its last '"));
  EXPECT_TRUE(refuses([] { split_values("a)"); }, "with an unexpected )"));
  EXPECT_TRUE(refuses([] { split_values("f(a]"); }, "with an unexpected ]"));
  EXPECT_TRUE(refuses([] { split_values("a,,b"); }, "with an empty value"));
  EXPECT_TRUE(refuses([] { split_values(""); }, "with an empty value"));
}

TEST(Vary, RefusesAxesThatAnAblationSetsItself) {
  EXPECT_EQ(parse_axis("model.attention.score=dot,general"), (Axis{"model.attention.score", {"dot", "general"}}));
  EXPECT_TRUE(refuses([] { parse_axis("model.attention.score"); }, "expected key.path=value,value"));
  EXPECT_TRUE(refuses([] { parse_axis("a=b,c,b"); }, "with a value twice"));
  EXPECT_TRUE(refuses([] { parse_axis("train.seed=1,2"); }, "expected --seeds"));
  EXPECT_TRUE(refuses([] { parse_axis("run.dir=a,b"); }, "--out"));
  EXPECT_TRUE(refuses([] { parse_axes({"a=b", "a=c"}); }, "--vary a twice"));
  EXPECT_TRUE(refuses([] { check_overrides({"a=b"}, {{"a", {"c"}}}); }, "got a=b and --vary a"));
  EXPECT_TRUE(refuses([] { check_overrides({"train.seed=3"}, {}); }, "expected --seeds"));
}

TEST(Vary, CountsSeedsOrListsThem) {
  EXPECT_EQ(parse_seeds("3"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(parse_seeds("7, 1,5"), (std::vector<int64_t>{7, 1, 5}));
  for (const char* wrong : {"0", "x", "1.5", "1,-2", "100000"})
    EXPECT_TRUE(refuses([&] { parse_seeds(wrong); }, "--seeds")) << wrong;
  EXPECT_TRUE(refuses([] { parse_seeds("1,1"); }, "1 twice"));
}

TEST(Vary, TheLastAxisChangesFirst) {
  EXPECT_EQ(grid_of({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}}),
            (std::vector<Values>{{"1", "x"}, {"1", "y"}, {"1", "z"}, {"2", "x"}, {"2", "y"}, {"2", "z"}}));
}

TEST(Vary, NamesOfCellsDifferAndAreSafeInAShell) {
  const std::vector<Axis> axes{{"model.attention.score", {"dot"}}, {"model.attention.align", {"local_p(3, renorm)"}}};
  EXPECT_EQ(cell_names(axes, grid_of(axes)), Values{"score=dot,align=local_p_3_renorm"});
  const std::vector<Axis> alike{{"model.a.dim", {"f(1)", "f[1]"}}, {"model.b.dim", {std::string(300, 'x')}}};
  const auto names = cell_names(alike, grid_of(alike));
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(names[0].rfind("model.a.dim=f_1,model.b.dim=xxx", 0), 0U);
  for (const auto& name : names) EXPECT_LE(name.size(), 100U);
}

}  // namespace
}  // namespace heed::cli
