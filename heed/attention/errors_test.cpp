// Errors of callers: each message names the part, what it got and what it expected.

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"
#include "heed/kernels/cpu/attend.h"

namespace heed::testing {
namespace {

/// The action throws Error, and its message contains all pieces.
template <typename Action>
void expect_error(const Action& action, const std::vector<std::string>& pieces) {
  try {
    action();
    ADD_FAILURE() << "nothing was refused; expected " << joined(pieces);
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const auto& piece : pieces)
      EXPECT_NE(text.find(piece), std::string::npos) << "'" << piece << "' is not in: " << text;
  }
}

void expect_parse_error(const std::string& spec, const std::vector<std::string>& pieces) {
  SCOPED_TRACE(spec);
  expect_error([&] { Mechanism::parse(spec); }, pieces);
}

TEST(Errors, OfSpecsNameTheNearestPart) {
  expect_parse_error("aditive + softmax", {"score", "'aditive'", "did you mean 'additive'", "known:"});
  expect_parse_error("additive + sofmax", {"alignment", "did you mean 'softmax'"});
  expect_parse_error("additive + softmax, mutli", {"dimensionality", "did you mean 'multi'"});
  expect_parse_error("additive softmax", {"'additive softmax'", "score + alignment"});
  expect_parse_error("additive + ", {"score + alignment"});
  expect_parse_error("", {"score + alignment"});
  expect_parse_error("additive + softmax, multi, multi", {"score + alignment"});
}

TEST(Errors, OfOptionsListTheKnownOnes) {
  expect_parse_error("additive + entmax(1.5, lerned)",
                     {"alignment/entmax", "'lerned'", "alpha", "learned", "did you mean"});
  expect_parse_error("additive + entmax(alhpa=1.5)", {"alignment/entmax", "'alhpa'", "did you mean 'alpha'"});
  expect_parse_error("additive + softmax(3)", {"alignment/softmax", "it has none"});
  expect_parse_error("additive + local_p(3, renrom)", {"alignment/local_p", "did you mean 'renorm'"});
  expect_parse_error("additive + local_p(form=wide)", {"alignment/local_p", "'wide'", "plain, renorm, score_gauss"});
  expect_parse_error("additive + entmax(alpha=x)", {"alignment/entmax", "'x'", "a number"});
  expect_parse_error("additive + top_k(2.5)", {"alignment/top_k", "2.5", "whole number"});
  expect_parse_error("additive + entmax(1.5", {"alignment/entmax", "name(option"});
}

TEST(Errors, OfRangesSayTheRange) {
  expect_parse_error("additive + entmax(1)", {"alignment/entmax", "alpha is 1", "1 < alpha <= 2"});
  expect_parse_error("additive + entmax(2.5)", {"alpha is 2.5"});
  expect_parse_error("additive + local_m(-1)", {"alignment/local_m", "window is -1"});
  expect_parse_error("additive + threshold(1.5)", {"theta is 1.5"});
  expect_parse_error("additive + top_k(0)", {"k is 0"});
  expect_parse_error("additive + gumbel_softmax(0)", {"temperature is 0"});
  expect_parse_error("cosine(-1) + softmax", {"sharpness is -1"});
}

TEST(Errors, OfCombinationsGiveTheReason) {
  expect_parse_error("dot + softmax, multi", {"dot", "multi", "hidden layer", "multi(lift)"});
  expect_parse_error("additive + softmax, multi(lift)", {"additive", "multi(lift)", "use multi"});
}

class Calls : public ::testing::Test {
 protected:
  Tensor q = at::randn({2, 3, 4}), k = at::randn({2, 5, 4}), v = at::randn({2, 5, 6});
  Call call;
  void expect_refused(const std::vector<std::string>& pieces, const std::string& spec = "scaled_dot + softmax",
                      const Parameters& p = {}) {
    expect_error([&] { attend(q, k, v, Mechanism::parse(spec), p, call); }, pieces);
  }
};

TEST_F(Calls, WithWrongShapes) {
  q = at::randn({2, 3, 6});
  expect_refused({"score/scaled_dot", "6 features", "4", "general"});
  q = at::randn({2, 1, 3, 4});
  expect_refused({"query is [2, 1, 3, 4]", "keys is [2, 5, 4]"});
  q = at::randn({3, 3, 4});
  expect_refused({"batch size"});
  q = at::randn({2, 3, 4});
  v = at::randn({2, 4, 6});
  expect_refused({"5 keys and 4 values"});
  q = at::randn({2, 3, 3, 4}), k = at::randn({2, 2, 5, 4}), v = at::randn({2, 2, 5, 6});
  expect_refused({"3 heads", "2", "divides"});
}

TEST_F(Calls, WithWrongTypes) {
  k = k.to(at::kDouble);
  expect_refused({"keys is Double", "query is Float", "convert"});
  q = q.to(at::kHalf);
  expect_refused({"Half", "float or double"});
  q.reset();
  expect_refused({"query is undefined"});
}

TEST_F(Calls, WithWrongMasks) {
  call.mask.keep = at::ones({2, 3, 4}, at::kBool);
  expect_refused({"keep is [2, 1, 3, 4]", "[2, 1, 3, 5]"});
  call.mask.keep = at::ones({2, 3, 5});
  expect_refused({"keep is Float", "bool"});
  call.mask = Mask{};
  call.mask.key_count = at::tensor(std::vector<int64_t>{5, 6});
  expect_refused({"key_count", "6", "0 to 5"});
  call.mask = Mask{};
  call.mask.left = -2;
  expect_refused({"left is -2"});
}

TEST_F(Calls, WithWrongBiasesNoiseAndOutputs) {
  call.bias.full = at::zeros({3, 4});
  expect_refused({"bias: full", "[3, 4]"});
  call.bias = Bias{};
  call.bias.relative = at::zeros({1, 4});
  expect_refused({"relative", "2R + 1"});
  call.bias = Bias{};
  call.noise.dropout = 1;
  expect_refused({"dropout is 1"});
  call.noise = Noise{};
  call.outputs.rows = {3};
  call.outputs.weights = true;
  expect_refused({"rows has 3", "0 to 2"});
  call.outputs = Outputs{};
  call.outputs.links = at::tensor(std::vector<int64_t>{0, 0, 0, 5}).view({1, 4});
  expect_refused({"links has key 5", "0 to 4"});
  call.outputs = Outputs{};
  call.outputs.lse = true;
  expect_refused({"alignment/hard", "lse"}, "dot + hard");
  call.outputs = Outputs{};
  call.outputs.entropy = true;
  expect_refused({"alignment/sigmoid", "entropy"}, "dot + sigmoid");
  call.outputs = Outputs{};
}

TEST_F(Calls, WithAPathThatIsNotAvailable) {
  call.path = Path::fused;
  const std::string reinforced = "dot + reinforced";
  expect_refused({"no fused kernel for dot + reinforced", "alignment/reinforced", "Path::composed"}, reinforced,
                 initialized(Mechanism::parse(reinforced).parameters({4, 4, 6, 4})));
  expect_refused({"score/general", "multi-dimensional", "Path::fastest"}, "general + softmax, multi(lift)",
                 {{"score.from_query", at::zeros({6, 4, 4})}});
  call.noise = {.sample = true, .uniforms = at::full({2, 3, 5}, 0.5)};
  expect_refused({"no fused kernel for dot + hard", "noise.uniforms"}, "dot + hard");
  call.noise = Noise{};
  call.outputs.weights = true;
  expect_refused({"additive + softmax, multi", "context and lse"}, "additive + softmax, multi",
                 {{"score.from_query", at::zeros({8, 4})},
                  {"score.from_keys", at::zeros({8, 4})},
                  {"score.bias", at::zeros({8})},
                  {"score.to_scores", at::zeros({6, 8})}});
}

TEST_F(Calls, WithWrongParameters) {
  expect_refused({"score/general", "'from_query' [4, 4] is missing"}, "general + softmax");
  expect_refused({"score/general", "[4, 5]", "expected [4, 4]"}, "general + softmax",
                 {{"score.from_query", at::zeros({4, 5})}});
  expect_refused({"score/dot", "unknown parameter 'bias'", "it has none"}, "dot + softmax",
                 {{"score.bias", at::zeros({4})}});
  expect_refused({"'bias'", "score. or align."}, "dot + softmax", {{"bias", at::zeros({4})}});
  expect_refused({"score/additive", "'bias' is [7]", "Dh is 8"}, "additive + softmax",
                 {{"score.from_query", at::zeros({8, 4})},
                  {"score.from_keys", at::zeros({8, 4})},
                  {"score.bias", at::zeros({7})},
                  {"score.to_scores", at::zeros({1, 8})}});
  expect_refused({"score/general", "Double", "Float"}, "general + softmax",
                 {{"score.from_query", at::zeros({4, 4}, at::kDouble)}});
}

TEST(Errors, OfModulesNameTheNumbers) {
  const auto make = [](AttentionOptions options) { return [options] { Attention attention(options); }; };
  expect_error(make({.query_dim = 4, .key_dim = 4, .value_dim = 4, .hidden_dim = 10, .num_heads = 4}),
               {"hidden_dim 10", "num_heads 4"});
  expect_error(make({.query_dim = 4, .key_dim = 4, .value_dim = 4, .num_heads = 4, .num_kv_heads = 3}),
               {"num_kv_heads 3", "num_heads 4"});
  expect_error(make({.query_dim = 4, .key_dim = 0, .value_dim = 4}), {"key_dim 0"});
  expect_error(make({.query_dim = 4, .key_dim = 6, .value_dim = 4}), {"score/scaled_dot", "4 features", "6"});
  Attention attention(AttentionOptions{.query_dim = 4, .key_dim = 4, .value_dim = 4});
  expect_error(
      [&] {
        attention->forward(at::zeros({1, 2, 5}), at::zeros({1, 2, 4}), at::zeros({1, 2, 4}));
      },
      {"query is [1, 2, 5]", "[B, L, 4]"});
}

TEST(Plans, SayWhichPathAndWhyNotAnother) {
  const auto x = at::randn({1, 4096, 8});
  const auto reinforced = Mechanism::parse("scaled_dot + reinforced");
  const auto parameters = initialized(reinforced.parameters({8, 8, 8, 8}));
  const Plan plan = why(x, x, x, reinforced, parameters);
  EXPECT_EQ(plan.path, Path::composed);
  EXPECT_LT(plan.block_queries, 4096);
  EXPECT_LE(plan.bytes, 16 << 20);
  EXPECT_NE(plan.to_string().find("not fused: no kernel for scaled_dot + reinforced: alignment/reinforced"),
            std::string::npos)
      << plan.to_string();
  EXPECT_EQ(attend(x.narrow(1, 0, 3), x, x, reinforced, parameters).plan.path, Path::composed);
}

TEST(Plans, TakeAKernelWhereThereIsOne) {
  const auto x = at::randn({1, 6, 8});
  const Plan plan = why(x, x, x);
  EXPECT_EQ(plan.path, Path::fused);
  EXPECT_EQ(plan.kernel, kernels::cpu::instruction_set() + ": dot x softmax");
  EXPECT_NE(plan.to_string().find("fused: kernel " + plan.kernel), std::string::npos) << plan.to_string();
  EXPECT_NE(plan.to_string().find("not composed: slower"), std::string::npos) << plan.to_string();
  EXPECT_EQ(attend(x, x, x).plan.kernel, plan.kernel);
}

TEST(Plans, TakeAKernelForDoublesOnlyOnRequest) {
  const auto x = at::randn({1, 6, 8}, kDouble);
  const Plan plan = why(x, x, x);
  EXPECT_EQ(plan.path, Path::composed);
  EXPECT_NE(plan.to_string().find("not fused: double runs on the portable kernels"), std::string::npos)
      << plan.to_string();
  Call call;
  call.path = Path::fused;
  EXPECT_EQ(attend(x, x, x, {}, {}, call).plan.kernel, "portable: dot x softmax");
  call.path = Path::composed;
  const auto floats = x.to(at::kFloat);
  const Plan asked = attend(floats, floats, floats, {}, {}, call).plan;
  EXPECT_EQ(asked.path, Path::composed);
  EXPECT_NE(asked.to_string().find("not fused: composed was requested"), std::string::npos) << asked.to_string();
}

// The meta device represents any device but the CPU.
TEST(Plans, KeepKernelsToTheCpu) {
  const auto x = at::empty({1, 6, 8}, at::TensorOptions().device(at::kMeta));
  const Plan plan = why(x, x, x);
  EXPECT_EQ(plan.path, Path::composed);
  EXPECT_NE(plan.to_string().find("the kernels run on the CPU, the query is on meta"), std::string::npos)
      << plan.to_string();
}

TEST(Mechanisms, RoundTripThroughTheirSpecs) {
  for (const auto& spec : every_mechanism())
    EXPECT_EQ(Mechanism::parse(Mechanism::parse(spec).to_string()).to_string(), Mechanism::parse(spec).to_string());
  EXPECT_EQ(Mechanism().to_string(), "scaled_dot + softmax");
  EXPECT_EQ(Mechanism::parse(" additive ( relu )+entmax( alpha = 1.3 ) ,multi").to_string(),
            "additive(relu) + entmax(alpha=1.3), multi");
}

}  // namespace
}  // namespace heed::testing
