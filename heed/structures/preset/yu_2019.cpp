// Modular co-attention (Yu et al., 2019, MCAN): self-attention over a question, then image layers guided by its result.
//
//   Y <- SA(Y)                                       question, each layer
//   X <- GA(SA(X), Y)                                image, each layer, guided by the last Y
//   SA(X) = FF(LayerNorm(X + MultiHead(X, X))),      GA(X, Y) = FF(LayerNorm(X + MultiHead(X, Y)))
//   FF(X) = LayerNorm(X + W_2 relu(W_1 X))
//   context = LayerNorm(W_x pool(X) + W_y pool(Y)),  pool: a = align(u . relu(W X + b))
//
// In the question's layers, FF follows SA; in the image's layers, there is one FF, after GA. The survey classifies the
// score as multiplicative; the paper scales it.

#include <torch/nn/modules/normalization.h>

#include "heed/structures/preset.h"

namespace heed {
namespace {

class ModularCoAttention final : public Structure {
 public:
  ModularCoAttention(const Options& spec, const StructureOptions& given) : Structure(given, "scaled_dot + softmax") {
    const int64_t layers = spec.integer("num_layers", 2),
                  heads = spec.integer("num_heads", given.num_heads > 1 ? given.num_heads : 2);
    check(layers >= 1, "modular_co_attention: layers is ", layers, ", expected at least 1");
    check(heads >= 1, "modular_co_attention: heads is ", heads, ", expected at least 1");
    const int64_t X = width_of(0), Y = width_of(1);
    for (int64_t i = 1; i <= layers; ++i) {
      const auto n = "_" + std::to_string(i);
      question_.push_back({look("question" + n, Y, Y, heads), norm("question" + n, Y), feed("question" + n, Y)});
      picture_.push_back({look("picture" + n, X, X, heads), norm("picture" + n, X), {}});
      guided_.push_back({look("guided" + n, X, Y, heads), norm("guided" + n, X), feed("guided" + n, X)});
    }
    for (size_t i = 0; i < 2; ++i) {
      const std::string name = i == 0 ? "pool_picture" : "pool_question";
      pools_.push_back(slot_with_score("self_attentive(relu)", name, 0, width_of(i)));
      joins_.push_back(parameter(name + "_out", {X, width_of(i)}));
    }
    joined_ = norm("context", X);
  }

  StructureSignature takes() const override { return {.features = {"picture", "question"}}; }
  int64_t width() const override { return width_of(0); }

 private:
  struct Feed {
    Tensor in, in_bias, out, out_bias;
    torch::nn::LayerNorm norm{nullptr};
  };
  struct Layer {
    Slot look;
    torch::nn::LayerNorm norm{nullptr};
    Feed feed;
  };

  Slot look(const std::string& name, int64_t query, int64_t keys, int64_t heads) {
    check(query % heads == 0, "modular_co_attention: a width of ", query, " does not split into ", heads,
          " heads; expected a multiple");
    return slot_of(AttentionOptions{.query_dim = query,
                                    .key_dim = keys,
                                    .value_dim = keys,
                                    .num_heads = heads,
                                    .head_dim = query / heads,
                                    .context_dim = query,  // the context is added to the query
                                    .mechanism = mechanism(),
                                    .dropout = options().dropout},
                   name);
  }
  torch::nn::LayerNorm norm(const std::string& name, int64_t width) {
    return register_module(name + "_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  }
  Feed feed(const std::string& name, int64_t width) {
    return {parameter(name + "_feed_in", {4 * width, width}), parameter(name + "_feed_in_bias", {4 * width}, kZeros),
            parameter(name + "_feed_out", {width, 4 * width}), parameter(name + "_feed_out_bias", {width}, kZeros),
            norm(name + "_feed", width)};
  }

  static Features looked(Layer& layer, const Features& x, const Features& at, const StructureInput& in,
                         StructureOutput& out) {
    return x.with_rows(layer.norm(x.rows + layer.look(out, x.rows, at, in.call)));
  }
  static Features fed(Layer& layer, const Features& x) {
    Feed& f = layer.feed;
    const auto inner = at::relu(at::linear(x.rows, f.in, f.in_bias));
    return x.with_rows(f.norm(x.rows + at::linear(inner, f.out, f.out_bias))).without_padding();
  }

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    Features picture = in.features[0], question = in.features[1];
    for (auto& layer : question_) question = fed(layer, looked(layer, question, question, in, out));
    for (size_t i = 0; i < picture_.size(); ++i) {
      picture = looked(picture_[i], picture, picture, in, out);
      picture = fed(guided_[i], looked(guided_[i], picture, question, in, out));
    }
    out.context = joined_(at::linear(pools_[0](out, {}, picture, in.call), joins_[0]) +
                          at::linear(pools_[1](out, {}, question, in.call), joins_[1]));  // [B, 1, D]
    return out;
  }

  std::vector<Layer> question_, picture_, guided_;
  std::vector<Slot> pools_;
  std::vector<Tensor> joins_;
  torch::nn::LayerNorm joined_{nullptr};
};

const Structure::Parts::Entry modular_co_attention_entry{
    "modular_co_attention",
    make_structure<ModularCoAttention>,
    {.formula = "Y <- SA(Y), X <- GA(SA(X), Y), layer by layer; LayerNorm(W_x pool(X) + W_y pool(Y))",
     .paper = "Yu et al., 2019",
     .cost = "layers (n1^2 + n1 n2 + n2^2) D",
     .choose = "two inputs, deep: one guides how the other is read",
     .axis = "features",
     .variants = {"modular_co_attention(num_layers=1)"},
     .synonyms = {"mcan"},
     .order = 12}};

const Preset::Entry yu_2019{
    "yu_2019",
    {.paper = "Yu et al., 2019, Deep modular co-attention networks for visual question answering",
     .axes = {"parallel", "single", "single", "dot, scaled_dot", "softmax", "single", "self_attentive + specialized",
              "multi_head"},
     .structure = "modular_co_attention(num_layers=6, num_heads=8)",
     .mechanisms = {"scaled_dot + softmax", "dot + softmax"}}};

}  // namespace
}  // namespace heed
