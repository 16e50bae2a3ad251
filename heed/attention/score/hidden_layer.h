// Base of scores with a hidden layer: e = w . act(x), where x [B, H, Lq, Lk, Dh] is the sum of projected query and key.
//
// Multi-dimensional (Shen et al., 2018): w becomes a matrix with one row for each channel. Elementwise: there is no w,
// and the hidden layer itself is the score, e = 5 act(x / 5).

#pragma once

#include "heed/attention/activation.h"
#include "heed/attention/score.h"

namespace heed {

class HiddenLayer : public Score {
 public:
  explicit HiddenLayer(const Options& options) : act_(options) {}

  std::string refuse(Dimensionality d) const override {
    return d == Dimensionality::lift ? "its hidden layer already has channels; use multi" : "";
  }

  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const final {
    const auto sum = query.unsqueeze(-2) + keys.unsqueeze(-3);  // [B, H, Lq, Lk, Dh]
    if (elementwise(p.sizes())) return kBound * act_(sum / kBound);
    return project(act_(sum), p["to_scores"]);  // [B, H, Lq, Lk, W]
  }

  TiledScore kernel(Dimensionality) const final {
    return {.kind = factors() ? ScoreKind::additive : ScoreKind::hidden, .activation = act_.in_kernels()};
  }
  ScoreTensors tile(const Parameters& p, const Tensor& query, const Tensor& keys) const final {
    ScoreTensors all{.query = query, .keys = keys, .to_scores = p.get("to_scores")};
    const bool single = p.sizes().dimensionality == Dimensionality::single;
    if (single && all.to_scores.dim() == 3) all.to_scores = all.to_scores.squeeze(-2);  // [H, 1, D]
    return all;
  }

  int64_t floats_per_pair(const Sizes& s) const override { return 4 * hidden(s); }

 protected:
  static int64_t hidden(const Sizes& s) { return elementwise(s) ? s.value_dim : s.hidden_dim; }
  static void add_to_scores(const Sizes& s, std::vector<ParameterSpec>& all) {
    if (!elementwise(s)) all.push_back({"to_scores", {s.width(), s.hidden_dim}});
  }

 private:
  /// tanh(q + k) = 1 - 2 / (1 + exp(2 q) exp(2 k)): one exponential per query and per key instead of one per pair.
  bool factors() const { return act_.in_kernels() == KernelActivation::tanh; }

  static constexpr double kBound = 5;  // as in the paper
  static bool elementwise(const Sizes& s) { return s.dimensionality == Dimensionality::elementwise; }

  Activation act_;
};

}  // namespace heed
