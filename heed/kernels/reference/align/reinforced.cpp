// Reinforced (Shen et al., 2018): a policy selects keys, softmax is over the selected ones.
//   f_j = [k_j; mean; k_j * mean],   logit_j = w . act(W f_j + b) + b',   pi_j = sigmoid(logit_j)
//   z_j = 1 with probability pi_j; not sampling: if pi_j > 1/2
//   log_probability = sum_j log(pi_j if z_j else 1 - pi_j)      mean and sum over the keys that some query may attend

#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Reinforced final : public Alignment<Real> {
 public:
  explicit Reinforced(const Options& options)
      : activate_(activation<Real>(options.choice("activation", activation_names()))),
        fallback_(options.flag("fallback")) {}
  typename Alignment<Real>::Gives gives() const override {
    return {.lse = true, .entropy = true, .log_probability = true, .policy = true};
  }

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_keys", {kHidden, 3 * s.keys}}, {"bias", {kHidden}}, {"to_logit", {1, kHidden}}, {"logit_bias", {1}}};
  }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    List<uint8_t> inside;
    for (const int64_t key : row.keys) inside.push_back(row.selected[static_cast<size_t>(key)]);
    const bool nobody = std::find(inside.begin(), inside.end(), 1) == inside.end();
    return soft_answer(nobody && fallback_ ? softmax(row.scores) : softmax_inside(row.scores, inside));
  }

  Chosen<Real> choose(const HeadParameters<Real>& p, std::span<const Real> keys, std::span<const uint8_t> reachable,
                      std::span<const float> draws) const override {
    const size_t features = keys.size() / std::max<size_t>(reachable.size(), 1);  // Dk
    const auto mean = mean_of(keys, reachable, features);
    Chosen<Real> chosen{List<uint8_t>(reachable.size(), 0)};
    for (size_t j = 0; j < reachable.size(); ++j) {
      if (!reachable[j]) continue;
      const Real x = logit(p, keys.subspan(j * features, features), mean);
      const double pi = re(sigmoid(x));
      const bool in = draws.empty() ? pi > 0.5 : static_cast<double>(draws[j]) < pi;
      chosen.selected[j] = in;
      chosen.log_probability += log_sigmoid<Real>(in ? x : -x);
    }
    return chosen;
  }

 private:
  static List<Real> mean_of(std::span<const Real> keys, std::span<const uint8_t> reachable, size_t features) {
    List<Real> mean(features, Real(0));
    double count = 0;
    for (size_t j = 0; j < reachable.size(); ++j) {
      if (!reachable[j]) continue;
      ++count;
      for (size_t d = 0; d < features; ++d) mean[d] += keys[j * features + d];
    }
    for (Real& x : mean) x /= std::max(count, 1.0);
    return mean;
  }

  Real logit(const HeadParameters<Real>& p, std::span<const Real> key, const List<Real>& mean) const {
    List<Real> f(key.begin(), key.end());
    f.insert(f.end(), mean.begin(), mean.end());
    for (size_t d = 0; d < mean.size(); ++d) f.push_back(key[d] * mean[d]);  // [3 Dk]
    const auto matrix = p["from_keys"], bias = p["bias"], last = p["to_logit"];
    Real sum = p["logit_bias"][0];
    for (size_t d = 0; d < bias.size(); ++d) {
      Real x = bias[d];
      for (size_t c = 0; c < f.size(); ++c) x += matrix[d * f.size() + c] * f[c];
      sum += last[d] * activate_(x);
    }
    return sum;
  }

  Activation<Real> activate_;
  bool fallback_;
};

}  // namespace

extern const AlignDefinitions::Entry reinforced_alignment{
    "reinforced", define<Reinforced>, {.variants = {"reinforced(fallback)", "reinforced(relu)"}}};

}  // namespace heed::kernels::reference
