// Multi-representational attention, or meta-embeddings (DME and CDME, Kiela et al., 2018): weights several embeddings
// of each token.
//
//   t_i = W_i x_i + b_i,   e_i = a . h_i + b,   x = sum_i align(e)_i t_i          for each token, over its E embeddings
//
//   form dme:    h_i = t_i. (The authors have two linear maps in sequence, D to 2 to 1, which are equivalent to one.)
//   form cdme:   h_i = BiLSTM(t_i), two units for each direction, along the sentence: the choice depends on the context
//
// gated: the default alignment is sigmoid, so that embeddings do not compete. activation: relu after the sum. A missing
// embedding of a token (keep is false) is masked; a token without any embedding gives 0.
//
//   embedding 1 [B, L, D_1], embedding 2 [B, L, D_2], ...  ->  context [B, L, hidden], keep [B, L]
//
// The step is "choose"; tokens are flattened into the batch axis: weights [B L, 1, E].

#include <algorithm>

#include "heed/structures/encode/recurrent.h"
#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class MultiRepresentational final : public Structure {
 public:
  MultiRepresentational(const Options& spec, const StructureOptions& options)
      : Structure(options, spec.flag("gated") ? "sigmoid" : "softmax"),
        inputs_(spec.integer("inputs", std::max<int64_t>(2, static_cast<int64_t>(options.features.size())))) {
    checked_repeats("multi_representational", "inputs", inputs_);
    const bool context = spec.choice("form", {"dme", "cdme"}) == "cdme";
    relu_ = spec.choice("activation", {"none", "relu"}) == "relu";
    for (int64_t i = 0; i < inputs_; ++i) {
      const auto number = std::to_string(i + 1);
      weights_.push_back(parameter("project_" + number, {width(), width_of(static_cast<size_t>(i))}));
      biases_.push_back(parameter("bias_" + number, {width()}, kZeros));
    }
    if (context)
      encode_ = register_module(
          "encode", Recurrent(RecurrentOptions{.in_dim = width(), .out_dim = 2 * kUnits, .cell = Cell::lstm}));
    const int64_t scored = context ? 2 * kUnits : width();
    to_scores_ = parameter("to_scores", {1, scored});
    score_bias_ = parameter("score_bias", {1, 1}, kZeros);
    choose_ = slot("choose", scored + 1, scored + 1, width());
  }

  StructureSignature takes() const override {
    StructureSignature all{.features = {}, .same_length = true};
    for (int64_t i = 1; i <= inputs_; ++i) all.features.push_back("embedding " + std::to_string(i));
    return all;
  }
  int64_t width() const override { return options().hidden_dim > 0 ? options().hidden_dim : width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const int64_t B = in.features[0].batch(), L = in.features[0].length();
    const Features all = side_by_side(in.features);  // rows [B, L, E, D]
    const auto scored = encode_ ? encoded(all) : all.rows;
    const auto keys = beside({scored, scored.new_ones({B, L, inputs_, 1})});  // [h; 1] . [a; b] = a . h + b
    const auto query = beside({to_scores_, score_bias_}).expand({B * L, 1, keys.size(-1)});
    Features tokens{keys.reshape({B * L, inputs_, keys.size(-1)}), {}};
    if (all.keep.defined()) tokens.keep = all.keep.reshape({B * L, inputs_});
    const auto values = all.rows.reshape({B * L, inputs_, width()});
    const auto chosen = choose_(out, query, tokens, with_rows_split(in.call, L), values).view({B, L, width()});
    out.context = relu_ ? at::relu(chosen) : chosen;
    if (all.keep.defined()) out.keep = all.keep.any(-1);
    return out;
  }

  /// The embeddings of a token, all projected: rows [B, L, E, D], keep [B, L, E].
  Features side_by_side(const std::vector<Features>& inputs) const {
    std::vector<Tensor> rows, keeps;
    bool masked = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto& f = inputs[i];
      rows.push_back(at::linear(f.rows, weights_[i], biases_[i]));
      masked = masked || f.keep.defined();
      keeps.push_back(f.keep.defined() ? f.keep : f.rows.new_ones({f.batch(), f.length()}, at::kBool));
    }
    return {at::stack(rows, 2), masked ? at::stack(keeps, 2) : Tensor()};
  }

  /// Encodes the sentence separately for each embedding: [B, L, E, 2 units].
  Tensor encoded(const Features& all) {
    const Features along{all.rows.transpose(1, 2), all.keep.defined() ? all.keep.transpose(1, 2) : Tensor()};
    return encode_->forward(along).rows.transpose(1, 2);
  }

  static constexpr int64_t kUnits = 2;

  int64_t inputs_;
  bool relu_ = false;
  std::vector<Tensor> weights_, biases_;  // W_i [D, D_i], b_i [D]
  Tensor to_scores_, score_bias_;         // a [1, D or 4], b [1, 1]
  Recurrent encode_{nullptr};
  Slot choose_;
};

const Structure::Parts::Entry multi_representational_entry{
    "multi_representational",
    make_structure<MultiRepresentational>,
    {.formula = "t_i = W_i x_i + b_i, x = sum_i align(a . t_i + b) t_i",
     .paper = "Kiela et al., 2018 (DME, CDME)",
     .cost = "L E D; cdme: and an LSTM of four units along each embedding",
     .choose = "several embeddings for each item",
     .axis = "representations",
     .variants = {"multi_representational(cdme)", "multi_representational(3, activation=relu)"},
     .synonyms = {"dme", "cdme", "meta_embedding"},
     .order = 1}};

}  // namespace
}  // namespace heed
