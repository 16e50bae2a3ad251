#include "heed/structures/testing.h"

namespace heed::testing {
namespace {

void copy(Structure& made, const std::string& name, const Tensor& value) {
  const at::NoGradGuard no_grad;
  made.named_parameters()[name].copy_(value);
}
Tensor matrix(std::vector<double> numbers, int64_t rows) {
  return at::tensor(numbers, kDouble).view({rows, -1});
}

const Tensor kX = matrix({1, 0, 0, 1, 1, 1}, 3);
const Tensor kOfQuery = matrix({1, 0, .5, 1}, 2), kOfKeys = matrix({.5, -.5, 1, 0}, 2),
             kOfValues = matrix({1, 2, 0, 1}, 2);

StructureInput x_over_x() {
  return {.features = {{kX.unsqueeze(0)}}, .query = kX.unsqueeze(0)};
}

/// Two heads of width 1 with the golden projections.
std::shared_ptr<Structure> golden(const std::string& mechanism) {
  auto heads = structure("multi_head", {.features = {2}, .mechanism = mechanism});
  heads->to(at::kDouble);
  return heads;
}

TEST(MultiHead, HasTheGoldenNumbers) {
  const auto heads = golden("dot + softmax");
  copy(*heads, "attend.heads.query", kOfQuery.t());
  copy(*heads, "attend.heads.keys", kOfKeys.t());
  copy(*heads, "attend.heads.values", kOfValues.t());
  copy(*heads, "attend.heads.out", at::eye(2, kDouble));  // the output is the contexts of both heads
  const auto concat = matrix({.69280411, 2, .67350416, 1.82220586, .72139931, 1.82220586}, 3);
  EXPECT_TRUE(close(heads->forward(x_over_x()).context[0], concat, 1e-7));
  copy(*heads, "attend.heads.out", matrix({1, .5, -1, 2}, 2).t());
  const auto expected = matrix({-1.30719589, 4.34640206, -1.14870169, 3.98116380, -1.10080655, 4.00511137}, 3);
  EXPECT_TRUE(close(heads->forward(x_over_x()).context[0], expected, 1e-7));
}

TEST(MultiHead, GivesEachHeadItsOwnMechanism) {
  const auto mixed = golden("dot + softmax | dot + sparsemax");
  for (const std::string g : {"1", "2"}) {
    const int64_t column = g == "1" ? 0 : 1;
    copy(*mixed, "attend_" + g + ".heads.query", kOfQuery.t().narrow(0, column, 1));
    copy(*mixed, "attend_" + g + ".heads.keys", kOfKeys.t().narrow(0, column, 1));
    copy(*mixed, "attend_" + g + ".heads.values", kOfValues.t().narrow(0, column, 1));
    copy(*mixed, "attend_" + g + ".heads.out", matrix({1, .5, -1, 2}, 2).t().narrow(1, column, 1));
  }
  // Head 1 as above. Head 2 has q = (0, 1, 1), k = (-.5, 0, -.5), v = (2, 1, 3): equal scores for the first query,
  // (-.5, 0, -.5) for the others, where tau = -2/3.
  const double third = (2 + 4 * 1 + 3) / 6.;
  const auto expected = matrix({0.69280411, 2, 0.67350416, third, 0.72139931, third}, 3);
  EXPECT_TRUE(close(mixed->forward(x_over_x()).context[0], at::matmul(expected, matrix({1, .5, -1, 2}, 2)), 1e-7));
}

TEST(MultiHead, SharesKeysAmongHeads) {
  at::manual_seed(1);
  auto grouped = structure("multi_head(num_heads=4, num_kv_heads=2)", {.features = {8}});
  auto whole = structure("multi_head(num_heads=4)", {.features = {8}});
  EXPECT_EQ(grouped->named_parameters()["attend.heads.keys"].size(0), 4);
  const auto twice = [](const Tensor& w) { return w.view({2, 1, 2, 8}).expand({2, 2, 2, 8}).reshape({8, 8}); };
  const auto shared = grouped->named_parameters();
  for (const std::string name : {"query", "out"}) copy(*whole, "attend.heads." + name, shared["attend.heads." + name]);
  for (const std::string name : {"keys", "values"})
    copy(*whole, "attend.heads." + name, twice(shared["attend.heads." + name]));
  const StructureInput given{.features = {{at::randn({2, 5, 8})}}, .query = at::randn({2, 3, 8})};
  EXPECT_TRUE(close(grouped->forward(given).context, whole->forward(given).context, 1e-6));
}

TEST(MultiHead, IsAsWideAsAskedFor) {
  const auto full = structure("multi_head(num_heads=3, width=full)", {.features = {4}});
  EXPECT_EQ(full->named_parameters()["attend.heads.query"].sizes(), (std::vector<int64_t>{12, 4}));
  const auto split = structure("multi_head(num_heads=2)", {.features = {4}});
  EXPECT_EQ(split->named_parameters()["attend.heads.query"].sizes(), (std::vector<int64_t>{4, 4}));
}

TEST(MultiHead, GivesEveryHeadItsBiases) {
  const auto mixed =
      structure("multi_head(bias)", {.features = {4}, .mechanism = "dot + softmax | additive + softmax"});
  for (const std::string group : {"attend_1", "attend_2"})
    for (const std::string name : {"query", "keys", "values", "out"})
      EXPECT_TRUE(mixed->named_parameters().contains(group + ".heads." + name + "_bias")) << group << name;
}

TEST(MultiHead, RefusesWhatDoesNotSplit) {
  EXPECT_THROW(structure("multi_head(num_heads=3)", {.features = {4}}), Error);
  EXPECT_THROW(structure("multi_head(num_heads=3)", {.features = {6}, .mechanism = "dot + softmax | dot + hard"}),
               Error);
  EXPECT_THROW(structure("multi_head(num_heads=4, num_kv_heads=3)", {.features = {8}}), Error);
}

}  // namespace
}  // namespace heed::testing
