// Local-p alignment (predictive; Luong et al., 2015): the query predicts the position p to attend.
//
//   p = S sigmoid(w . tanh(W q))          S keys;  center = min(floor(p), S - 1)
//   window = { j : |j - center| <= D }    g_j = exp(-(j - p)^2 / (2 sigma^2)),  sigma = D / 2
//
//   plain        a = softmax(e) g         softmax over the window; sums to less than 1, as in the paper
//   renorm       a = softmax(e - (j - p)^2 / (2 sigma^2))
//   score_gauss  a = softmax(e g)         the authors' later variant
//
// p gets its gradient through the Gaussian, where it is not rounded; the window has none. D = 0: g = 1.

#include "heed/attention/align.h"

namespace heed {
namespace {

class LocalP final : public Alignment {
 public:
  explicit LocalP(const Options& options)
      : window_(options.integer("window", 10)), form_(options.choice("form", {"plain", "renorm", "score_gauss"})) {
    check(window_ >= 0, "alignment/local_p: window is ", window_, ", expected at least 0");
  }

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    check(s.query_dim > 0, "alignment/local_p: got no query, expected one to predict the position from");
    return {{"from_query", {s.hidden_dim, s.query_dim}}, {"to_position", {1, s.hidden_dim}}};
  }

  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    return project(at::tanh(project(query, p["from_query"])), p["to_position"]);  // [B, H, Lq, 1]
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    const auto position = this->position(in);
    const auto keep = in.keep.logical_and((in.key_index - center(position, in)).abs() <= window_);
    if (window_ == 0) return normalized(in.scores, keep);
    const auto far = (in.key_index - position).square() / (2 * sigma() * sigma());  // [B, H, Lq, Lk, 1]
    if (form_ == "renorm") return normalized(in.scores - far, keep);
    if (form_ == "score_gauss") return normalized(in.scores * at::exp(-far), keep);
    Aligned soft = normalized(in.scores, keep);
    soft.weights = soft.weights * at::exp(-far);
    soft.log_weights = soft.log_weights - far;
    return soft;
  }

  TiledAlignment kernel(Dimensionality d, bool) const override {
    const Gauss gauss = window_ == 0             ? Gauss::none
                        : form_ == "renorm"      ? Gauss::add
                        : form_ == "score_gauss" ? Gauss::multiply
                                                 : Gauss::weights;
    return single_only(d, TiledAlignment{.reach = window_, .gauss = gauss, .sigma = sigma()});
  }
  AlignmentTensors tile(const Parameters&, const Scored& in) const override {
    const auto row = [](const Tensor& x) { return x.squeeze(-1).squeeze(-1); };  // [B, H, Lq]
    const auto position = this->position(in);
    // For a position of NaN the window contains no key.
    const auto middle = center(position, in).nan_to_num(-1.0 - static_cast<double>(window_)).to(at::kLong);
    return {.center = row(middle), .position = row(position)};
  }

  Offers offers() const override { return {.lse = true}; }
  bool positional() const override { return true; }

 private:
  double sigma() const { return static_cast<double>(window_) / 2; }
  /// p, [B, H, Lq, 1, 1]
  static Tensor position(const Scored& in) { return in.key_count * at::sigmoid(in.query).unsqueeze(-1); }
  static Tensor center(const Tensor& position, const Scored& in) {
    return at::minimum(position.detach().floor(), (in.key_count - 1).clamp_min(0));
  }

  int64_t window_;
  std::string form_;
};

const Catalogue<Alignment>::Entry local_p_entry{
    "local_p",
    make_part<Alignment, LocalP>,
    {.formula = "softmax(e) exp(-(j - p)^2 / 2 sigma^2) over |j - p| <= D",
     .paper = "Luong et al., 2015",
     .cost = "Lq (2D + 1)",
     .choose = "one position matters and can be guessed from the query",
     .variants = {"local_p(2)", "local_p(2, renorm)", "local_p(2, score_gauss)", "local_p(0)"},
     .synonyms = {"local", "predictive", "local_predictive"},
     .order = 4}};

}  // namespace
}  // namespace heed
