#include "heed/kernels/reference/align.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "heed/base/check.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
using List = std::vector<Real>;

template <typename Real>
struct Soft {
  List<Real> weights;
  Real lse;
};

/// a_j = exp(e_j - m) / sum exp(e - m),   lse = m + log sum exp(e - m),   over the keys inside; m is their maximum.
template <typename Real>
Soft<Real> softmax_inside(const List<Real>& scores, const List<uint8_t>& inside) {
  double best = -kInfinity;
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) best = std::max(best, re(scores[j]));
  }
  List<Real> weights(scores.size(), Real(0));
  Real sum(0);
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) sum += weights[j] = std::exp(scores[j] - best);
  }
  if (best == -kInfinity && re(sum) == 0) return {std::move(weights), Real(-kInfinity)};  // no key is inside
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) weights[j] /= sum;
  }
  return {std::move(weights), best + std::log(sum)};
}

template <typename Real>
Soft<Real> softmax(const List<Real>& scores) {
  return softmax_inside(scores, List<uint8_t>(scores.size(), 1));
}

/// H = -sum a log a,   0 log 0 = 0
template <typename Real>
Real entropy(const List<Real>& weights) {
  Real sum(0);
  for (const Real& a : weights) {
    if (re(a) != 0) sum -= a * std::log(a);
  }
  return sum;
}

template <typename Real>
Aligned<Real> soft_answer(Soft<Real> soft) {
  const Real uncertainty = entropy(soft.weights);
  return {std::move(soft.weights), soft.lse, uncertainty};
}

template <typename Real>
bool has_nan(const List<Real>& scores) {
  return std::any_of(scores.begin(), scores.end(),
                     [](const Real& e) { return std::isnan(re(e)) || re(e) == kInfinity; });
}

/// The answer if scores cannot be compared: NaN.
template <typename Real>
Aligned<Real> unknown(size_t keys) {
  const Real nan(std::numeric_limits<double>::quiet_NaN());
  return {List<Real>(keys, nan), nan, nan, nan};
}

/// Index of the largest score; of equal ones the first.
template <typename Real>
size_t best_of(const List<Real>& scores) {
  size_t best = 0;
  for (size_t j = 1; j < scores.size(); ++j) {
    if (re(scores[j]) > re(scores[best])) best = j;
  }
  return best;
}

template <typename Real>
List<Real> one_hot(size_t keys, size_t which) {
  List<Real> weights(keys, Real(0));
  weights[which] = Real(1);
  return weights;
}

/// Indices by descending score; equal ones in their order.
template <typename Real>
List<size_t> ranked(const List<Real>& scores) {
  List<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return re(scores[x]) > re(scores[y]); });
  return order;
}

/// e + g with Gumbel noise g = -log(-log u): its argmax is a sample of softmax(e). Without draws: e.
template <typename Real>
List<Real> perturbed(const ScoreRow<Real>& row) {
  List<Real> scores = row.scores;
  for (size_t j = 0; j < row.draws.size(); ++j) scores[j] += -std::log(-std::log(row.draws[j]));
  return scores;
}

/// Sets weights that are not kept to 0; renorm: divides the others by their sum.
template <typename Real>
List<Real> filtered(List<Real> weights, const List<uint8_t>& kept, bool renorm) {
  Real sum(0);
  for (size_t j = 0; j < weights.size(); ++j) {
    if (kept[j])
      sum += weights[j];
    else
      weights[j] = Real(0);
  }
  for (size_t j = 0; renorm && j < weights.size(); ++j) {
    if (kept[j]) weights[j] /= sum;
  }
  return weights;
}

/// Softmax:   a_j = exp(e_j) / sum exp(e)
template <typename Real>
class Softmax final : public Alignment<Real> {
 public:
  explicit Softmax(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }
  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    return soft_answer(softmax(row.scores));
  }
};

/// Hard (Xu et al., 2015): all weight on one key m, sampled from softmax(e), or the argmax.
///   log_probability = e_m - lse,   entropy = that of softmax(e)      both for REINFORCE
template <typename Real>
class Hard final : public Alignment<Real> {
 public:
  explicit Hard(const Options&) {}
  typename Alignment<Real>::Gives gives() const override {
    return {.entropy = true, .log_probability = true, .draws = true};
  }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const size_t m = best_of(perturbed(row));
    const auto soft = softmax(row.scores);
    return {one_hot<Real>(row.scores.size(), m), Real(-kInfinity), entropy(soft.weights), row.scores[m] - soft.lse};
  }
};

/// (e + g) / temperature
template <typename Real>
List<Real> tempered(const ScoreRow<Real>& row, double temperature) {
  List<Real> scores = perturbed(row);
  for (Real& e : scores) e /= temperature;
  return scores;
}

double read_temperature(const Options& options) {
  const double temperature = options.number("temperature", 1);
  check(temperature > 0, options.part(), ": temperature is ", temperature, ", expected a number above 0");
  return temperature;
}

/// Gumbel-softmax (Jang et al., 2017; Maddison et al., 2017):   a = softmax((e + g) / t),   not sampling: the argmax
template <typename Real>
class GumbelSoftmax final : public Alignment<Real> {
 public:
  explicit GumbelSoftmax(const Options& options) : temperature_(read_temperature(options)) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true, .draws = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    if (row.draws.empty()) return {one_hot<Real>(row.scores.size(), best_of(row.scores))};
    return soft_answer(softmax(tempered(row, temperature_)));
  }

 private:
  double temperature_;
};

/// Straight-through (Bengio et al., 2013): one-hot like hard, with the gradients of softmax((e + g) / t).
template <typename Real>
class StraightThrough final : public Alignment<Real> {
 public:
  explicit StraightThrough(const Options& options) : temperature_(read_temperature(options)) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true, .draws = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const auto scores = tempered(row, temperature_);
    auto weights = softmax(scores).weights;
    const size_t m = best_of(scores);
    for (size_t j = 0; j < weights.size(); ++j) weights[j] = first_order(weights[j], j == m ? 1 : 0, 1);
    return {std::move(weights)};  // one-hot weights have entropy 0
  }

 private:
  double temperature_;
};

/// Threshold: keeps softmax weights of at least theta. The others still count in the normalizer, unless renorm.
template <typename Real>
class Threshold final : public Alignment<Real> {
 public:
  explicit Threshold(const Options& options)
      : theta_(options.number("theta", 0.01)),
        renorm_(options.flag("renorm")),
        keep_best_(options.flag("keep_best", true)) {
    check(theta_ >= 0 && theta_ < 1, "alignment/threshold: theta is ", theta_, ", expected a number in [0, 1)");
  }
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    auto soft = softmax(row.scores);
    List<uint8_t> survives;
    for (const Real& a : soft.weights) survives.push_back(re(a) >= theta_);
    const bool nobody = std::find(survives.begin(), survives.end(), 1) == survives.end();
    if (nobody && keep_best_) survives[best_of(row.scores)] = 1;
    return soft_answer<Real>({filtered(std::move(soft.weights), survives, renorm_), soft.lse});
  }

 private:
  double theta_;
  bool renorm_, keep_best_;
};

/// Top-k: keeps the k largest softmax weights. The others still count in the normalizer, unless renorm.
template <typename Real>
class TopK final : public Alignment<Real> {
 public:
  explicit TopK(const Options& options) : k_(options.integer("k", 8)), renorm_(options.flag("renorm")) {
    check(k_ >= 1, "alignment/top_k: k is ", k_, ", expected at least 1");
  }
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    auto soft = softmax(row.scores);
    List<uint8_t> survives(row.scores.size(), 0);
    const auto order = ranked(row.scores);
    for (size_t rank = 0; rank < order.size() && static_cast<int64_t>(rank) < k_; ++rank) survives[order[rank]] = 1;
    return soft_answer<Real>({filtered(std::move(soft.weights), survives, renorm_), soft.lse});
  }

 private:
  int64_t k_;
  bool renorm_;
};

/// The keys within `reach` of the center: the window is clipped at both ends, never shifted.
template <typename Real>
List<uint8_t> window(const ScoreRow<Real>& row, int64_t center, int64_t reach) {
  List<uint8_t> inside;
  for (const int64_t key : row.keys) inside.push_back(std::abs(key - center) <= reach);
  return inside;
}

int64_t read_window(const Options& options) {
  const int64_t reach = options.integer("window", 10);
  check(reach >= 0, options.part(), ": window is ", reach, ", expected 0 or more");
  return reach;
}

/// Local, monotonic (Luong et al., 2015): softmax within `window` of the query's own position.
/// The window of a position beyond the keys may be empty; clamp: it is then centered at the last key.
template <typename Real>
class LocalM final : public Alignment<Real> {
 public:
  explicit LocalM(const Options& options) : window_(read_window(options)), clamp_(options.flag("clamp")) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    const int64_t center = clamp_ ? std::min(row.position, row.key_count - 1) : row.position;
    return soft_answer(softmax_inside(row.scores, window(row, center, window_)));
  }

 private:
  int64_t window_;
  bool clamp_;
};

/// Local, predictive (Luong et al., 2015): the query predicts a position p, counted from 0. S is the true length.
///   p = S sigmoid(w . tanh(W q)),   window: |j - min(floor p, S - 1)| <= D
///   g_j = exp(-(j - p)^2 / (2 sigma^2)),   sigma = D / 2
///   plain:        a = softmax(e) g          weights of the window, not normalized again: they sum to less than 1
///   renorm:       a = softmax(e + log g)
///   score_gauss:  a = softmax(e g)
/// The window is centered at an integer, the Gaussian at the real p. D = 0: one key, g = 1.
template <typename Real>
class LocalP final : public Alignment<Real> {
 public:
  explicit LocalP(const Options& options)
      : window_(read_window(options)), form_(options.choice("form", {"plain", "renorm", "score_gauss"})) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", {kHidden, s.query}}, {"to_position", {1, kHidden}}};
  }

  Aligned<Real> align(const HeadParameters<Real>& p, const ScoreRow<Real>& row) const override {
    const Real at = position(p, row);
    if (std::isnan(re(at))) return unknown<Real>(row.scores.size());
    const auto center = std::min(static_cast<int64_t>(std::floor(re(at))), row.key_count - 1);
    const auto inside = window(row, center, window_);
    List<Real> scores = row.scores, gauss;
    for (size_t j = 0; j < scores.size(); ++j) {
      const Real exponent = log_gauss(static_cast<double>(row.keys[j]) - at);
      gauss.push_back(std::exp(exponent));
      if (form_ == "renorm") scores[j] += exponent;
      if (form_ == "score_gauss") scores[j] *= gauss[j];
    }
    auto soft = softmax_inside(scores, inside);
    if (form_ == "plain") {
      for (size_t j = 0; j < scores.size(); ++j) {
        if (inside[j]) soft.weights[j] *= gauss[j];
      }
    }
    return soft_answer(std::move(soft));
  }

 private:
  static Real position(const HeadParameters<Real>& p, const ScoreRow<Real>& row) {
    const auto matrix = p["from_query"], last = p["to_position"];  // [Dh, Dq], [1, Dh]
    Real sum(0);
    for (size_t d = 0; d < last.size(); ++d) {
      Real x(0);
      for (size_t f = 0; f < row.query.size(); ++f) x += matrix[d * row.query.size() + f] * row.query[f];
      sum += last[d] * std::tanh(x);
    }
    return static_cast<double>(row.key_count) * sigmoid(sum);
  }

  /// -x^2 / (2 sigma^2)
  Real log_gauss(const Real& x) const {
    if (window_ == 0) return Real(0);
    const double sigma = static_cast<double>(window_) / 2;
    return -x * x / (2 * sigma * sigma);
  }

  int64_t window_;
  std::string form_;
};

/// Reinforced (Shen et al., 2018): a policy selects keys, softmax is over the selected ones.
///   f_j = [k_j; mean; k_j * mean],   logit_j = w . act(W f_j + b) + b',   pi_j = sigmoid(logit_j)
///   z_j = 1 with probability pi_j; not sampling: if pi_j > 1/2
///   log_probability = sum_j log(pi_j if z_j else 1 - pi_j)      mean and sum over the keys that some query may attend
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

/// Sparsemax (Martins & Astudillo, 2016): the point of the simplex nearest to the scores.
///   a = max(e - tau, 0),   tau = (e(1) + ... + e(r) - 1) / r,   e(1) >= e(2) >= ... the scores sorted
///   r the largest with  1 + r e(r) > e(1) + ... + e(r)
template <typename Real>
class Sparsemax final : public Alignment<Real> {
 public:
  explicit Sparsemax(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const auto order = ranked(row.scores);
    const double best = re(row.scores[order[0]]);  // subtracted first, so that large scores lose no digits
    Real sum(0), tau(0);
    for (size_t r = 1; r <= order.size(); ++r) {
      const Real e = row.scores[order[r - 1]] - best;
      sum += e;
      if (1 + static_cast<double>(r) * re(e) > re(sum)) tau = (sum - 1.0) / static_cast<double>(r);
    }
    List<Real> weights;
    for (const Real& e : row.scores) weights.push_back(re(e) - best > re(tau) ? e - best - tau : Real(0));
    return soft_answer<Real>({std::move(weights), Real(-kInfinity)});
  }
};

/// Entmax (Peters et al., 2019): between softmax (alpha -> 1) and sparsemax (alpha = 2).
///   a = max(x - tau, 0)^(1 / (alpha - 1)),   x = (alpha - 1) (e - best),   tau such that the weights sum to 1
/// Bisection finds the real tau and with it the support. Newton steps on the support then give tau its gradients with
/// respect to the scores and alpha.    learned: alpha = 1.01 + .99 sigmoid(to_alpha)
template <typename Real>
class Entmax final : public Alignment<Real> {
 public:
  explicit Entmax(const Options& options) : alpha_(options.number("alpha", 1.5)), learned_(options.flag("learned")) {
    check(alpha_ > 1 && alpha_ <= 2, "alignment/entmax: alpha is ", alpha_,
          ", expected a number in (1, 2]; for 1 take softmax");
  }
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true}; }

  std::vector<Declared> parameters(const Sizes&) const override {
    return learned_ ? std::vector<Declared>{{"to_alpha", {1}}} : std::vector<Declared>{};
  }

  Aligned<Real> align(const HeadParameters<Real>& p, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const Real alpha = learned_ ? 1.01 + 0.99 * sigmoid(p["to_alpha"][0]) : Real(alpha_);
    const double best = re(row.scores[best_of(row.scores)]);
    List<Real> x;
    for (const Real& e : row.scores) x.push_back((alpha - 1.0) * (e - best));

    const Real power = 1.0 / (alpha - 1.0);
    Real tau(tau_by_halving(x, re(power)));
    for (int step = 0; step < 2; ++step) {
      Real excess(-1), derivative(0);  // sum (x - tau)^power - 1, and its derivative with respect to -tau
      for (const Real& one : x) {
        if (re(one) <= re(tau)) continue;
        excess += std::pow(one - tau, power);
        derivative += power * std::pow(one - tau, power - 1.0);
      }
      tau += excess / derivative;
    }
    List<Real> weights;
    for (const Real& one : x) weights.push_back(re(one) > re(tau) ? Real(std::pow(one - tau, power)) : Real(0));
    return soft_answer<Real>({std::move(weights), Real(-kInfinity)});
  }

 private:
  /// The largest x is 0. At tau = -1 that key alone has weight 1; at tau = -(1/n)^(1/power) no weight is above 1/n.
  static double tau_by_halving(const List<Real>& x, double power) {
    double low = -1, high = -std::pow(1.0 / static_cast<double>(x.size()), 1 / power);
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return low;
      double sum = 0;
      for (const Real& one : x) {
        if (re(one) > middle) sum += std::pow(re(one) - middle, power);
      }
      (sum >= 1 ? low : high) = middle;
    }
  }

  double alpha_;
  bool learned_;
};

/// Sigmoid:   a = 1 / (1 + exp(-e)),   elementwise
template <typename Real>
class Sigmoid final : public Alignment<Real> {
 public:
  explicit Sigmoid(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    Aligned<Real> answer;
    for (const Real& e : row.scores) answer.weights.push_back(sigmoid(e));
    return answer;
  }
};

/// Identity:   a = e,   not normalized
template <typename Real>
class Identity final : public Alignment<Real> {
 public:
  explicit Identity(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {}; }
  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override { return {row.scores}; }
};

/// Uniform:   a = 1 / n,   independent of the scores: the baseline of an ablation
template <typename Real>
class Uniform final : public Alignment<Real> {
 public:
  explicit Uniform(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    const size_t n = row.scores.size();
    return soft_answer<Real>({List<Real>(n, Real(1 / static_cast<double>(n))), Real(-kInfinity)});
  }
};

template <typename Real, typename Kind>
std::unique_ptr<const Alignment<Real>> make(const Options& options) {
  return std::make_unique<const Kind>(options);
}

template <typename Real>
const auto& alignment_makers() {
  using Maker = std::unique_ptr<const Alignment<Real>> (*)(const Options&);
  static const std::map<std::string, Maker> all{
      {"softmax", make<Real, Softmax<Real>>},
      {"hard", make<Real, Hard<Real>>},
      {"gumbel_softmax", make<Real, GumbelSoftmax<Real>>},
      {"straight_through", make<Real, StraightThrough<Real>>},
      {"threshold", make<Real, Threshold<Real>>},
      {"top_k", make<Real, TopK<Real>>},
      {"local_m", make<Real, LocalM<Real>>},
      {"local_p", make<Real, LocalP<Real>>},
      {"reinforced", make<Real, Reinforced<Real>>},
      {"sparsemax", make<Real, Sparsemax<Real>>},
      {"entmax", make<Real, Entmax<Real>>},
      {"sigmoid", make<Real, Sigmoid<Real>>},
      {"identity", make<Real, Identity<Real>>},
      {"uniform", make<Real, Uniform<Real>>},
  };
  return all;
}

}  // namespace

template <typename Real>
std::unique_ptr<const Alignment<Real>> make_alignment(const PartSpec& spec) {
  const auto found = alignment_makers<Real>().find(spec.name);
  if (found == alignment_makers<Real>().end()) return nullptr;
  // Parsed again: options record which of them were read, and those of `spec` may have been read already.
  const auto fresh = parse_part(spec.to_string(), "alignment");
  auto alignment = found->second(fresh.options);
  fresh.options.refuse_unread();
  return alignment;
}

template std::unique_ptr<const Alignment<double>> make_alignment(const PartSpec&);
template std::unique_ptr<const Alignment<Complex>> make_alignment(const PartSpec&);

std::vector<std::string> align_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : alignment_makers<double>()) names.push_back(name);
  return names;
}

}  // namespace heed::kernels::reference
