#include "heed/kernels/reference/score.h"

#include <cmath>
#include <map>

#include "heed/base/check.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
using Features = std::span<const Real>;

template <typename Real>
Real dot(Features<Real> x, Features<Real> y) {
  Real sum(0);
  for (size_t d = 0; d < x.size(); ++d) sum += x[d] * y[d];
  return sum;
}

/// Part c of `count` equal parts: a group of features, a row of a matrix, or a matrix of a stack.
template <typename Real>
Features<Real> part(Features<Real> x, int64_t c, int64_t count) {
  const size_t size = x.size() / static_cast<size_t>(count);
  return x.subspan(static_cast<size_t>(c) * size, size);
}

/// W x, W row-major.
template <typename Real>
std::vector<Real> product(Features<Real> matrix, Features<Real> x) {
  std::vector<Real> y(matrix.size() / x.size());
  for (size_t r = 0; r < y.size(); ++r) y[r] = dot(matrix.subspan(r * x.size(), x.size()), x);
  return y;
}

/// The scores of all channels.
template <typename Real, typename Formula>
std::vector<Real> for_each_channel(const Sizes& sizes, const Formula& formula) {
  std::vector<Real> e;
  for (int64_t c = 0; c < sizes.width(); ++c) e.push_back(formula(c));
  return e;
}

void check_groups(const std::string& name, const Sizes& s) {
  check(s.query == s.keys, "score/", name, ": query has ", s.query, " features and keys have ", s.keys,
        ", expected as many; general or additive compare different widths");
  check(s.keys % s.width() == 0, "score/", name, ": keys have ", s.keys, " features, expected a multiple of the ",
        s.width(), " channels of the values");
}

/// Base of scores with a hidden layer x, which ends in one of two ways.
///   single, hidden:  e = w_c . act(x)         w [W, Dh]
///   elementwise:     e_c = 5 act(x_c / 5)     Shen et al., 2018: linear near 0, bounded by 5
template <typename Real>
class HiddenLayer : public Score<Real> {
 public:
  HiddenLayer(const Options& options, Form form)
      : activate_(activation<Real>(options.choice("activation", activation_names()))), form_(form) {}
  std::vector<Form> forms() const override { return {Form::single, Form::hidden, Form::elementwise}; }

 protected:
  int64_t hidden(const Sizes& s) const { return form_ == Form::elementwise ? s.values : kHidden; }

  void declare_last(const Sizes& s, std::vector<Declared>& all) const {
    if (form_ != Form::elementwise) all.push_back({"to_scores", {s.width(), kHidden}});
  }

  std::vector<Real> finish(const HeadParameters<Real>& p, std::vector<Real> x) const {
    if (form_ == Form::elementwise) {
      for (Real& one : x) one = 5.0 * activate_(one / 5.0);
      return x;
    }
    for (Real& one : x) one = activate_(one);
    return product<Real>(p["to_scores"], x);
  }

 private:
  Activation<Real> activate_;
  Form form_;
};

/// Additive (Bahdanau et al., 2015):   e = w . act(W_q q + W_k k + b)      the bias is inside the activation
template <typename Real>
class Additive final : public HiddenLayer<Real> {
 public:
  Additive(const Options& options, Form form) : HiddenLayer<Real>(options, form), bias_(options.flag("bias", true)) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    const int64_t hidden = this->hidden(s);
    std::vector<Declared> all{{"from_query", {hidden, s.query}}, {"from_keys", {hidden, s.keys}}};
    if (bias_) all.push_back({"bias", {hidden}});
    this->declare_last(s, all);
    return all;
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes&) const override {
    auto x = product(p["from_query"], pair.query);            // [Dh]
    const auto from_key = product(p["from_keys"], pair.key);  // [Dh]
    for (size_t d = 0; d < x.size(); ++d) x[d] += from_key[d] + (bias_ ? p["bias"][d] : Real(0));
    return this->finish(p, std::move(x));
  }

 private:
  bool bias_;
};

/// Concat (Luong et al., 2015):   e = w . act(W [q; k])
template <typename Real>
class Concat final : public HiddenLayer<Real> {
 public:
  using HiddenLayer<Real>::HiddenLayer;

  std::vector<Declared> parameters(const Sizes& s) const override {
    std::vector<Declared> all{{"from_both", {this->hidden(s), s.query + s.keys}}};
    this->declare_last(s, all);
    return all;
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes&) const override {
    std::vector<Real> both(pair.query.begin(), pair.query.end());
    both.insert(both.end(), pair.key.begin(), pair.key.end());
    return this->finish(p, product<Real>(p["from_both"], both));
  }
};

/// Scores without a matrix: a formula on one group of features per channel.
template <typename Real>
class Grouped : public Score<Real> {
 public:
  explicit Grouped(std::string name) : name_(std::move(name)) {}
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }
  void check_sizes(const Sizes& sizes) const override { check_groups(name_, sizes); }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(
        s, [&](int64_t c) { return formula(p, part(pair.query, c, s.width()), part(pair.key, c, s.width())); });
  }

 protected:
  virtual Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const = 0;

 private:
  std::string name_;
};

/// Dot, or multiplicative (Luong et al., 2015):   e = q . k
template <typename Real>
class Dot final : public Grouped<Real> {
 public:
  Dot(const Options&, Form) : Grouped<Real>("dot") {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override { return dot(q, k); }
};

/// Scaled dot (Vaswani et al., 2017):   e = q . k / sqrt(Dk),   lifted: the width of a group
template <typename Real>
class ScaledDot final : public Grouped<Real> {
 public:
  ScaledDot(const Options&, Form) : Grouped<Real>("scaled_dot") {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override {
    return dot(q, k) / std::sqrt(static_cast<double>(k.size()));
  }
};

/// Cosine (Graves et al., 2014):   e = sharpness q . k / (max(|q|, 1e-8) max(|k|, 1e-8))
/// |x| = sqrt(sum x^2). A vector shorter than 1e-8 counts as constant: it gets no gradient; the formula's would be 1e8.
template <typename Real>
class Cosine final : public Grouped<Real> {
 public:
  Cosine(const Options& options, Form)
      : Grouped<Real>("cosine"), sharpness_(options.number("sharpness", 1)), learned_(options.flag("learned")) {}

  std::vector<Declared> parameters(const Sizes&) const override {
    return learned_ ? std::vector<Declared>{{"log_sharpness", {1}}} : std::vector<Declared>{};
  }

 protected:
  Real formula(const HeadParameters<Real>& p, Features<Real> q, Features<Real> k) const override {
    const Real sharpness = learned_ ? std::exp(p["log_sharpness"][0]) : Real(sharpness_);
    return sharpness * dot<Real>(direction(q), direction(k));
  }

 private:
  static std::vector<Real> direction(Features<Real> x) {
    const Real length = root(dot(x, x));
    const bool short_one = re(length) < 1e-8;
    std::vector<Real> y;
    for (const Real& one : x) y.push_back(short_one ? constant(one) / 1e-8 : one / length);
    return y;
  }

  double sharpness_;
  bool learned_;
};

/// Euclidean:   e = -|q - k|^2,   root: e = -|q - k|      negated, so that a near key has a large score
template <typename Real>
class Euclidean final : public Grouped<Real> {
 public:
  Euclidean(const Options& options, Form) : Grouped<Real>("euclidean"), root_(options.flag("root")) {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override {
    Real squares(0);
    for (size_t d = 0; d < q.size(); ++d) squares += (q[d] - k[d]) * (q[d] - k[d]);
    return root_ ? -root(squares) : -squares;
  }

 private:
  bool root_;
};

/// Scores with a matrix. Lifted: a stack of matrices, one per channel.
template <typename Real>
class Bilinear : public Score<Real> {
 public:
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", stacked(s, {s.keys, s.query})}};
  }

 protected:
  static std::vector<int64_t> stacked(const Sizes& s, std::vector<int64_t> shape) {
    if (s.form == Form::lift) shape.insert(shape.begin(), s.values);
    return shape;
  }

  /// W_c q: [Dk]
  static std::vector<Real> projected(const HeadParameters<Real>& p, const Pair<Real>& pair, int64_t c, const Sizes& s) {
    return product(part(p["from_query"], c, s.width()), pair.query);
  }
};

/// General (Luong et al., 2015):   e = k . (W q)
template <typename Real>
class General final : public Bilinear<Real> {
 public:
  General(const Options&, Form) {}

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) { return dot<Real>(pair.key, this->projected(p, pair, c, s)); });
  }
};

/// Biased general (Sordoni et al., 2016):   e = k . (W q + b)
template <typename Real>
class BiasedGeneral final : public Bilinear<Real> {
 public:
  BiasedGeneral(const Options&, Form) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", this->stacked(s, {s.keys, s.query})}, {"bias", this->stacked(s, {s.keys})}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) {
      auto x = this->projected(p, pair, c, s);          // [Dk]
      const auto bias = part(p["bias"], c, s.width());  // [Dk]
      for (size_t d = 0; d < x.size(); ++d) x[d] += bias[d];
      return dot<Real>(pair.key, x);
    });
  }
};

/// Activated general (Ma et al., 2017):   e = act(k . (W q) + b),   b a scalar      bounded under tanh
template <typename Real>
class ActivatedGeneral final : public Bilinear<Real> {
 public:
  ActivatedGeneral(const Options& options, Form)
      : activate_(activation<Real>(options.choice("activation", activation_names()))) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", this->stacked(s, {s.keys, s.query})}, {"bias", {s.width()}}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) {
      return activate_(dot<Real>(pair.key, this->projected(p, pair, c, s)) + p["bias"][static_cast<size_t>(c)]);
    });
  }

 private:
  Activation<Real> activate_;
};

/// Location (Luong et al., 2015):   e_j = (W q)_j      keys are not read; keys from index `max` on are masked
template <typename Real>
class Location final : public Score<Real> {
 public:
  Location(const Options& options, Form) : max_(options.integer("max", 512)) {
    check(max_ >= 1, "score/location: max is ", max_, ", expected at least 1");
  }
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }
  int64_t max_keys() const override { return max_; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    if (s.form == Form::lift) return {{"from_query", {s.values, max_, s.query}}};
    return {{"from_query", {max_, s.query}}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(
        s, [&](int64_t c) { return dot(part(part(p["from_query"], c, s.width()), pair.key_index, max_), pair.query); });
  }

 private:
  int64_t max_;
};

/// Self-attentive (Lin et al., 2017; Yang et al., 2016): the query is learned, the given one is not read.
///   hidden:  e_i = query_i . act(W k + b)        multi: one query per channel
///   dot:     e_i = query_i . k                   lifted: by groups
/// Query i is learned query i, or the only one.
template <typename Real>
class SelfAttentive final : public Score<Real> {
 public:
  SelfAttentive(const Options& options, Form)
      : dot_(options.choice("form", {"hidden", "dot"}) == "dot"),
        queries_(options.integer("queries", 1)),
        activate_(activation<Real>(options.choice("activation", activation_names()))) {
    check(queries_ >= 1, "score/self_attentive: queries is ", queries_, ", expected at least 1");
  }
  std::vector<Form> forms() const override {
    return dot_ ? std::vector<Form>{Form::single, Form::lift} : std::vector<Form>{Form::single, Form::hidden};
  }

  void check_sizes(const Sizes& s) const override {
    check(queries_ == 1 || s.queries == queries_, "score/self_attentive: got ", s.queries, " queries, expected ",
          queries_, ", one row for each learned query");
    if (dot_)
      check(s.keys % s.width() == 0, "score/self_attentive: keys have ", s.keys, " features, expected a multiple of ",
            s.width());
  }

  std::vector<Declared> parameters(const Sizes& s) const override {
    if (dot_) return {{"query", {queries_, s.keys}}};
    std::vector<int64_t> query{queries_, kHidden};
    if (s.form == Form::hidden) query.insert(query.begin() + 1, s.values);
    return {{"from_keys", {kHidden, s.keys}}, {"bias", {kHidden}}, {"query", query}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    const auto query = part(p["query"], queries_ == 1 ? 0 : pair.query_index, queries_);  // [Dk], [Dh] or [W, Dh]
    if (dot_)
      return for_each_channel<Real>(
          s, [&](int64_t c) { return dot(part(query, c, s.width()), part(pair.key, c, s.width())); });
    auto x = product(p["from_keys"], pair.key);  // [Dh]
    for (size_t d = 0; d < x.size(); ++d) x[d] = activate_(x[d] + p["bias"][d]);
    return product<Real>(query, x);
  }

 private:
  bool dot_;
  int64_t queries_;
  Activation<Real> activate_;
};

template <typename Real, typename Kind>
std::unique_ptr<const Score<Real>> make(const Options& options, Form form) {
  return std::make_unique<const Kind>(options, form);
}

template <typename Real>
const auto& score_makers() {
  using Maker = std::unique_ptr<const Score<Real>> (*)(const Options&, Form);
  static const std::map<std::string, Maker> all{
      {"additive", make<Real, Additive<Real>>},
      {"concat", make<Real, Concat<Real>>},
      {"dot", make<Real, Dot<Real>>},
      {"scaled_dot", make<Real, ScaledDot<Real>>},
      {"general", make<Real, General<Real>>},
      {"biased_general", make<Real, BiasedGeneral<Real>>},
      {"activated_general", make<Real, ActivatedGeneral<Real>>},
      {"cosine", make<Real, Cosine<Real>>},
      {"euclidean", make<Real, Euclidean<Real>>},
      {"location", make<Real, Location<Real>>},
      {"self_attentive", make<Real, SelfAttentive<Real>>},
  };
  return all;
}

}  // namespace

template <typename Real>
std::unique_ptr<const Score<Real>> make_score(const PartSpec& spec, Form form) {
  const auto found = score_makers<Real>().find(spec.name);
  if (found == score_makers<Real>().end()) return nullptr;
  // Parsed again: options record which of them were read, and those of `spec` may have been read already.
  const auto fresh = parse_part(spec.to_string(), "score");
  auto score = found->second(fresh.options, form);
  fresh.options.refuse_unread();
  return score;
}

template std::unique_ptr<const Score<double>> make_score(const PartSpec&, Form);
template std::unique_ptr<const Score<Complex>> make_score(const PartSpec&, Form);

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : score_makers<double>()) names.push_back(name);
  return names;
}

}  // namespace heed::kernels::reference
