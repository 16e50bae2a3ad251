// Decoders that attend to their source through a structure, compared with calling it by hand; which structures fit.

#include <sstream>

#include "heed/attention/testing.h"
#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/decode/luong.h"

namespace heed::testing {
namespace {

constexpr int64_t kThrough = 4;

DecoderOptions options_with(const std::string& structure, const std::string& mechanism = "") {
  DecoderOptions o;
  o.embedding_dim = 3;
  o.state_dim = o.source_dim = kThrough;
  o.out_dim = 2;
  o.structure = structure;
  o.mechanism = mechanism;
  return o;
}

template <typename Decoder>
Decoder with_structure(const DecoderOptions& options) {
  at::manual_seed(8);
  Decoder decoder(options);
  decoder->to(at::kDouble);
  decoder->eval();
  return decoder;
}

/// A separate copy of a decoder's structure.
std::shared_ptr<Structure> taken_out(const torch::nn::Module& decoder, const DecoderOptions& o) {
  auto copy = structure(o.structure, {.features = {o.source_dim},
                                      .query_dim = o.state_dim,
                                      .hidden_dim = o.hidden_dim,
                                      .num_heads = o.num_heads,
                                      .mechanism = o.mechanism});
  copy->to(at::kDouble);
  copy->eval();
  const at::NoGradGuard no_grad;
  const auto named = decoder.named_parameters();
  for (auto& item : copy->named_parameters()) item.value().copy_(named["glimpse.structure." + item.key()]);
  return copy;
}

Features padded_source() {
  const auto keep = at::tensor(std::vector<int64_t>{1, 1, 1, 1, 0, 1, 1, 0}).view({2, 4}).to(at::kBool);
  return {at::randn({2, 4, kThrough}, kDouble).masked_fill(keep.logical_not().unsqueeze(-1), std::nan("")), keep};
}

const std::vector<std::pair<std::string, std::string>> kStructures{
    {"multi_hop(hops=2)", "additive + softmax"},
    {"multi_head(num_heads=2)", "scaled_dot + sparsemax"},
    {"memory_network(hops=2)", "softmax"},
    {"stacked", ""}};

TEST(DecoderWithAStructure, AttendsThroughItAsByHand) {
  for (const auto& [spec, mechanism] : kStructures) {
    auto o = options_with(spec, mechanism);
    o.readout = Readout::linear;
    if (spec.rfind("memory", 0) == 0) o.hidden_dim = 6;
    auto decoder = with_structure<BahdanauDecoder>(o);
    const auto p = decoder->named_parameters();
    const auto looks = taken_out(*decoder, o);
    const auto source = padded_source();
    const auto y = at::randn({2, 3, 3}, kDouble);
    auto s = at::linear(mean(source).squeeze(1), p["glimpse.start.weight"], p["glimpse.start.bias"]).tanh();
    std::vector<Tensor> outputs, weights;
    Call call;
    call.outputs.weights = true;
    for (int64_t t = 0; t < 3; ++t) {
      const auto seen = looks->forward({.features = {source}, .query = s.unsqueeze(1), .call = call});
      const auto c = seen.context.squeeze(1);
      EXPECT_EQ(c.size(1), o.hidden_dim > 0 ? o.hidden_dim : kThrough);
      s = at::gru_cell(at::cat({y.select(1, t), c}, 1), s, p["cell.gru.weight_ih"], p["cell.gru.weight_hh"],
                       p["cell.gru.bias_ih"], p["cell.gru.bias_hh"]);
      outputs.push_back(at::linear(at::cat({s, y.select(1, t), c}, 1), p["readout.weight"], p["readout.bias"]));
      weights.push_back(seen.steps.back().second.weights);
    }
    const auto found = decoder->forward({y, {}}, source, call);
    EXPECT_TRUE(close(found.features.rows, at::stack(outputs, 1), 1e-12)) << spec;
    EXPECT_TRUE(close(found.attended.weights, at::cat(weights, weights[0].dim() == 4 ? 2 : 1), 1e-12)) << spec;
  }
}

TEST(DecoderWithAStructure, KeepsTheSourceOfItsBeams) {
  for (const auto& [spec, mechanism] : kStructures) {
    auto decoder = with_structure<LuongDecoder>(options_with(spec, mechanism));
    const auto source = padded_source();
    const auto y = at::randn({2, 2, 3}, kDouble);
    const auto state = decoder->step(y.select(1, 0), decoder->start(source)).state;
    const auto rows = at::tensor(std::vector<int64_t>{1, 0, 1});
    const auto chosen = state.select(rows);
    EXPECT_TRUE(same_bits(chosen.source.keep, source.keep.index_select(0, rows)));
    EXPECT_TRUE(close(decoder->step(y.select(1, 1).index_select(0, rows), chosen).output,
                      decoder->step(y.select(1, 1), state).output.index_select(0, rows), 1e-12))
        << spec;
    EXPECT_THROW(state.select(at::tensor(std::vector<int64_t>{2})), Error);
  }
}

TEST(DecoderWithAStructure, HasTheMechanismOfItsPaperUnlessTold) {
  std::ostringstream spec, told;
  spec << *with_structure<BahdanauDecoder>(options_with("multi_head(num_heads=2)"));
  told << *with_structure<BahdanauDecoder>(options_with("multi_head(num_heads=2)", "additive + sparsemax"));
  EXPECT_NE(spec.str().find("scaled_dot + softmax"), std::string::npos) << spec.str();
  EXPECT_NE(told.str().find("multi_head(num_heads=2) of additive + sparsemax"), std::string::npos) << told.str();
}

// The constructor runs the structure once. This must neither advance torch's generator nor change any state.
TEST(DecoderWithAStructure, IsProbedWithoutSideEffects) {
  const auto next = [](const std::string& mechanism) {
    with_structure<BahdanauDecoder>(options_with("singular", mechanism));
    return at::rand({1});
  };
  EXPECT_TRUE(same_bits(next("additive + hard"), next("additive + softmax")));
  const BahdanauDecoder decoder(options_with("singular", "additive + hard"));
  for (const auto& module : decoder->modules()) EXPECT_TRUE(module->is_training());
}

std::string refusal(const DecoderOptions& options) {
  try {
    BahdanauDecoder{options};
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DecoderWithAStructure, RefusesOtherStructuresWithTheReason) {
  const auto says = [](const std::string& spec, const std::string& part, const std::string& mechanism = "") {
    const auto found = refusal(options_with(spec, mechanism));
    return found.find(part) != std::string::npos
               ? ::testing::AssertionSuccess()
               : ::testing::AssertionFailure() << "'" << found << "' does not say '" << part << "'";
  };
  EXPECT_TRUE(
      says("multi_hop(attention)", "takes features, question; expected one query and the features of one source"));
  EXPECT_TRUE(says("self_attentive", "takes no query"));
  EXPECT_TRUE(says("hierarchical", "takes no query"));
  EXPECT_TRUE(says("multi_hob", "multi_hop"));
  EXPECT_TRUE(says("multi_hop(hops=2)", "a policy", "additive + reinforced"));
  EXPECT_TRUE(says("memory_network", "an alignment alone", "additive + softmax"));
}

}  // namespace
}  // namespace heed::testing
