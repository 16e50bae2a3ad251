// Cosine score (similarity; Graves et al., 2014):   e = s q . k / (max(|q|, 1e-8) max(|k|, 1e-8))
//
// The sharpness s is a number (default 1; softmax is then never sharp), or learned as exp(log_sharpness), which is
// always positive. A vector with a norm below 1e-8 gets no gradient, which would be of the order of 1e8. Per channel
// (lift): the cosine of each group of features.

#include <cmath>

#include "heed/attention/score.h"

namespace heed {
namespace {

constexpr double kShortest = 1e-8;

class Cosine final : public Score {
 public:
  explicit Cosine(const Options& options)
      : sharpness_(options.number("sharpness", 1)), learned_(options.flag("learned")) {
    check(sharpness_ > 0, "score/cosine: sharpness is ", sharpness_, ", expected more than 0");
  }

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    check_same_width("score/cosine", s);
    if (!learned_) return {};
    return {{"log_sharpness", {1}, {Initial::constant, std::log(sharpness_)}}};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    return unit(query, p.sizes().width());
  }
  Tensor prepare_keys(const Parameters& p, const Tensor& keys) const override { return unit(keys, p.sizes().width()); }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    const auto cosines = products(query, keys, p.sizes().width());
    if (!learned_) return sharpness_ * cosines;
    return at::exp(p.spread("log_sharpness", /*between=*/2)) * cosines;
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }
  ScoreTensors tile(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    if (!learned_) return {.query = query, .keys = keys, .scale = sharpness_};
    return {.query = query * at::exp(p.spread("log_sharpness", /*between=*/1)), .keys = keys};
  }

 private:
  /// x divided by its norm, for each group; x / 1e-8 without a gradient if the norm is below 1e-8.
  static Tensor unit(const Tensor& x, int64_t groups) {
    const auto parts = x.reshape({x.size(0), x.size(1), x.size(2), groups, x.size(3) / groups});
    const auto square = parts.square().sum(-1, /*keepdim=*/true);
    const auto too_short = square.detach() < kShortest * kShortest;
    const auto long_one = parts * square.masked_fill(too_short, 1.0).rsqrt();
    return at::where(too_short, parts.detach() / kShortest, long_one).view(x.sizes());
  }

  double sharpness_;
  bool learned_;
};

const Catalogue<Score>::Entry cosine_entry{"cosine",
                                           make_part<Score, Cosine>,
                                           {.formula = "s q . k / (|q| |k|)",
                                            .paper = "Graves et al., 2014",
                                            .cost = "Lq Lk D",
                                            .choose = "direction counts, length does not",
                                            .variants = {"cosine(5)", "cosine(2, learned)"},
                                            .synonyms = {"similarity", "cosine_similarity", "content_based"},
                                            .order = 9}};

}  // namespace
}  // namespace heed
