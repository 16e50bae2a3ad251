// One call, query by query:   scores -> scale -> soft cap -> biases -> mask -> align -> dropout -> read out.
//
// A masked pair is skipped, never multiplied by zero: NaN in a masked key or value, or in a query that may attend
// nothing, is not read. A query without keys has weights, context, entropy and log-probability 0, and lse -inf.

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/philox.h"
#include "heed/kernels/reference/align.h"
#include "heed/kernels/reference/check_problem.h"
#include "heed/kernels/reference/mask.h"
#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/reference.h"
#include "heed/kernels/reference/score.h"

namespace heed::kernels::reference {
namespace {

Form form_of(const PartSpec& spec) {
  const auto fresh = parse_part(spec.to_string(), "dimensionality");
  Form form = Form::single;
  if (fresh.name == "multi") {
    const auto word = fresh.options.choice("form", {"hidden", "elementwise", "lift"});
    form = word == "hidden" ? Form::hidden : word == "lift" ? Form::lift : Form::elementwise;
  }
  fresh.options.refuse_unread();
  return form;
}

std::string spec_of(Form form) {
  switch (form) {
    case Form::single:
      return "single";
    case Form::hidden:
      return "multi";
    case Form::elementwise:
      return "multi(elementwise)";
    case Form::lift:
      return "multi(lift)";
  }
  return "";
}

template <typename Real>
Array<Real> zeros(std::vector<int64_t> shape) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  return {std::move(shape), std::vector<Real>(static_cast<size_t>(size), Real(0))};
}

/// The n numbers of entry `index` of an array whose last axes have size n: one feature vector, one row.
template <typename Real>
std::span<const Real> entry(const Array<Real>& array, int64_t index, int64_t n) {
  return std::span<const Real>(array.data).subspan(static_cast<size_t>(index * n), static_cast<size_t>(n));
}

/// One call: the data that all queries share.
template <typename Real>
class Call {
 public:
  explicit Call(const Problem<Real>& problem);

  Answer<Real> run(const ParallelFor& parallel_for);

 private:
  /// One head of one batch element: its parameters, and the keys that the policy selected.
  struct Head {
    int64_t b, h, key_head;  // key_head: index of this head's keys among all B * Hk
    HeadParameters<Real> score, align;
    Chosen<Real> chosen;
  };

  Answer<Real> empty_answer() const;
  void attend_head(int64_t b, int64_t h, Answer<Real>& answer) const;
  void attend_query(const Head& head, int64_t i, Answer<Real>& answer) const;
  void read_out(const Head& head, int64_t i, Answer<Real>& answer) const;

  std::vector<std::vector<Real>> scores_of(const Head& head, int64_t i) const;
  Real biases(int64_t b, int64_t h, int64_t i, int64_t j) const;
  std::vector<double> draws(const Head& head, int64_t i) const;
  Chosen<Real> choose(const Head& head) const;

  uint32_t row_and_head(const Head& head) const { return static_cast<uint32_t>((p_.first_row + head.b) * H_ + head.h); }
  uint32_t counted_query(int64_t i) const { return static_cast<uint32_t>(i + p_.first_query); }
  int64_t query_index(const Head& head, int64_t i) const { return (head.b * H_ + head.h) * Lq_ + i; }
  int64_t key_index(const Head& head, int64_t j) const { return head.key_head * Lk_ + j; }

  const Problem<Real>& p_;
  std::shared_ptr<const Score<Real>> score_;
  std::shared_ptr<const Alignment<Real>> align_;
  int64_t B_ = 0, H_ = 0, Hk_ = 0, Lq_ = 0, Lk_ = 0, Dv_ = 0, W_ = 0;
  Sizes sizes_;
  std::vector<int64_t> true_length_;  // [B]
};

template <typename Real>
Call<Real>::Call(const Problem<Real>& problem) : p_(problem) {
  const std::string reason = missing(p_.mechanism);
  check(reason.empty(), reason);
  const Form form = form_of(p_.mechanism.dimensionality);
  score_ = make_definition<Real, Score>(p_.mechanism.score, form);
  align_ = make_definition<Real, Alignment>(p_.mechanism.align);
  check_problem(p_, form == Form::single || p_.values.shape.empty() ? 1 : p_.values.shape.back());

  B_ = p_.query.shape[0], H_ = p_.query.shape[1], Lq_ = p_.query.shape[2];
  Hk_ = p_.keys.shape[1], Lk_ = p_.keys.shape[2], Dv_ = p_.values.shape[3];
  sizes_ = {p_.query.shape[3], p_.keys.shape[3], Dv_, Lq_, form};
  W_ = sizes_.width();
  score_->check_sizes(sizes_);
  // Checks the parameters now, even if there is no head to use them.
  HeadParameters<Real>("score", score_->parameters(sizes_), p_.parameters, H_, 0);
  HeadParameters<Real>("align", align_->parameters(sizes_), p_.parameters, H_, 0);
  const Mask mask(p_);
  for (int64_t b = 0; b < B_; ++b) true_length_.push_back(mask.true_length(b));
}

template <typename Real>
Answer<Real> Call<Real>::empty_answer() const {
  const auto gives = align_->gives();
  Answer<Real> answer;
  answer.context = zeros<Real>({B_, H_, Lq_, Dv_});
  answer.scores = answer.weights = zeros<Real>({B_, H_, Lq_, Lk_, W_});
  const auto per_row = zeros<Real>({B_, H_, Lq_, W_});
  if (gives.lse) {
    answer.lse = per_row;
    std::fill(answer.lse.data.begin(), answer.lse.data.end(), Real(-kInfinity));
  }
  if (gives.entropy) answer.entropy = per_row;
  if (gives.log_probability) answer.log_probability = gives.policy ? zeros<Real>({B_, H_}) : per_row;
  if (gives.policy) answer.selected = zeros<Real>({B_, H_, Lk_});
  return answer;
}

template <typename Real>
Answer<Real> Call<Real>::run(const ParallelFor& parallel_for) {
  Answer<Real> answer = empty_answer();
  parallel_for(B_ * H_, [&](int64_t task) { attend_head(task / H_, task % H_, answer); });
  return answer;
}

template <typename Real>
void Call<Real>::attend_head(int64_t b, int64_t h, Answer<Real>& answer) const {
  Head head{b,
            h,
            b * Hk_ + h / (H_ / Hk_),
            {"score", score_->parameters(sizes_), p_.parameters, H_, h},
            {"align", align_->parameters(sizes_), p_.parameters, H_, h},
            {}};
  if (align_->gives().policy) {
    head.chosen = choose(head);
    const auto at = static_cast<size_t>(b * H_ + h);
    answer.log_probability.data[at] = head.chosen.log_probability;
    for (size_t j = 0; j < head.chosen.selected.size(); ++j) {
      answer.selected.data[at * head.chosen.selected.size() + j] = Real(head.chosen.selected[j]);
    }
  }
  for (int64_t i = 0; i < Lq_; ++i) {
    attend_query(head, i, answer);
    read_out(head, i, answer);
  }
}

/// The policy reads the keys once for all queries. Its random numbers are those of query 0, for any first_query.
template <typename Real>
Chosen<Real> Call<Real>::choose(const Head& head) const {
  std::vector<float> draws(p_.sample ? static_cast<size_t>(Lk_) : 0);
  if (p_.sample) uniforms(p_.seed, p_.stream, kPolicy, row_and_head(head), 0, Lk_, draws.data());
  const auto keys = entry(p_.keys, head.key_head, Lk_ * sizes_.keys);  // [Lk, Dk]
  return align_->choose(head.align, keys, Mask(p_).reachable(head.b, head.h), draws);
}

/// [Lk, W]: the scores of a kept key; an empty list for a masked one.
template <typename Real>
std::vector<std::vector<Real>> Call<Real>::scores_of(const Head& head, int64_t i) const {
  const Mask mask(p_);
  std::vector<std::vector<Real>> scores(static_cast<size_t>(Lk_));
  const auto query = entry(p_.query, query_index(head, i), sizes_.query);
  for (int64_t j = 0; j < std::min(Lk_, score_->max_keys()); ++j) {
    if (!mask.keeps(head.b, head.h, i, j)) continue;
    auto e = score_->score(head.score, {query, entry(p_.keys, key_index(head, j), sizes_.keys), i, j}, sizes_);
    const Real added = biases(head.b, head.h, i, j);
    for (Real& one : e) {
      one *= p_.scale;
      if (p_.soft_cap > 0) one = p_.soft_cap * std::tanh(one / p_.soft_cap);
      one += added;
    }
    scores[static_cast<size_t>(j)] = std::move(e);
  }
  return scores;
}

/// The sum of all biases of a pair, the same for every channel.
template <typename Real>
Real Call<Real>::biases(int64_t b, int64_t h, int64_t i, int64_t j) const {
  const int64_t ahead = j - Mask(p_).position(i);
  Real sum(0);
  if (!p_.bias.empty()) sum += spread(p_.bias, b, h, i, j);
  if (!p_.per_key.empty()) {
    const auto& n = p_.per_key.shape;  // [B|1, H|1, Lk]
    sum += p_.per_key.data[static_cast<size_t>(((n[0] == 1 ? 0 : b) * n[1] + (n[1] == 1 ? 0 : h)) * n[2] + j)];
  }
  if (!p_.relative.empty()) {
    const int64_t row = p_.relative.shape[0] == 1 ? 0 : h, reach = p_.relative.shape[1] / 2;  // R
    sum += p_.relative.data[static_cast<size_t>(row * (2 * reach + 1) + std::clamp(ahead, -reach, reach) + reach)];
  }
  if (!p_.alibi.empty()) sum -= p_.alibi.data[static_cast<size_t>(h)] * static_cast<double>(std::abs(ahead));
  return sum;
}

/// [Lk * W] random numbers in (0, 1) for the alignment of query i; empty: do not sample.
template <typename Real>
std::vector<double> Call<Real>::draws(const Head& head, int64_t i) const {
  if (!p_.sample || !align_->gives().draws) return {};
  if (!p_.uniforms.empty()) {
    const auto given = entry(p_.uniforms, query_index(head, i), Lk_ * W_);
    return {given.begin(), given.end()};
  }
  std::vector<float> drawn(static_cast<size_t>(Lk_ * W_));
  uniforms(p_.seed, p_.stream, kAlignment, row_and_head(head), counted_query(i), Lk_ * W_, drawn.data());
  return {drawn.begin(), drawn.end()};
}

template <typename Real>
void Call<Real>::attend_query(const Head& head, int64_t i, Answer<Real>& answer) const {
  const auto scores = scores_of(head, i);  // [Lk, W]
  const auto all_draws = draws(head, i);   // [Lk * W]
  const int64_t at = query_index(head, i);
  for (int64_t c = 0; c < W_; ++c) {
    ScoreRow<Real> row;
    for (int64_t j = 0; j < Lk_; ++j) {
      const auto& e = scores[static_cast<size_t>(j)];
      if (e.empty()) continue;
      const Real decides = align_->gives().reads_scores ? e[static_cast<size_t>(c)] : biases(head.b, head.h, i, j);
      if (re(decides) == -kInfinity) continue;  // a kept score, or bias, of -inf counts as masked
      row.keys.push_back(j);
      row.scores.push_back(e[static_cast<size_t>(c)]);
      if (!all_draws.empty()) row.draws.push_back(all_draws[static_cast<size_t>(j * W_ + c)]);
    }
    if (row.keys.empty()) continue;  // no keys: the answer is initialized for that
    row.query = entry(p_.query, at, sizes_.query);
    row.position = Mask(p_).position(i);
    row.key_count = true_length_[static_cast<size_t>(head.b)];
    row.selected = head.chosen.selected;
    const Aligned<Real> aligned = align_->align(head.align, row);

    for (size_t n = 0; n < row.keys.size(); ++n) {
      const auto pair = static_cast<size_t>((at * Lk_ + row.keys[n]) * W_ + c);
      answer.scores.data[pair] = row.scores[n];
      answer.weights.data[pair] = aligned.weights[n];
    }
    const auto gives = align_->gives();
    const auto whole = static_cast<size_t>(at * W_ + c);
    if (gives.lse) answer.lse.data[whole] = aligned.lse;
    if (gives.entropy) answer.entropy.data[whole] = aligned.entropy;
    if (gives.log_probability && !gives.policy) answer.log_probability.data[whole] = aligned.log_probability;
  }
}

/// c = sum_j a_j v_j, channel by channel. Values of weight exactly 0 are not read. Dropout applies here, not to the
/// reported weights: an element is kept if u >= rate, and then multiplied by 1 / (1 - rate).
template <typename Real>
void Call<Real>::read_out(const Head& head, int64_t i, Answer<Real>& answer) const {
  std::vector<float> drawn(p_.dropout > 0 ? static_cast<size_t>(Lk_ * W_) : 0);
  if (p_.dropout > 0) {
    uniforms(p_.seed, p_.stream, kDropout, row_and_head(head), counted_query(i), Lk_ * W_, drawn.data());
  }
  const int64_t at = query_index(head, i);
  const auto weights = entry(answer.weights, at, Lk_ * W_);
  for (int64_t j = 0; j < Lk_; ++j) {
    const auto value = entry(p_.values, key_index(head, j), Dv_);
    for (int64_t c = 0; c < Dv_; ++c) {
      const auto element = static_cast<size_t>(W_ == 1 ? j : j * W_ + c);
      const bool dropped = !drawn.empty() && static_cast<double>(drawn[element]) < p_.dropout;
      if (dropped || weights[element] == Real(0)) continue;
      const Real factor = p_.dropout > 0 ? weights[element] / (1 - p_.dropout) : weights[element];
      answer.context.data[static_cast<size_t>(at * Dv_ + c)] += factor * value[static_cast<size_t>(c)];
    }
  }
}

}  // namespace

std::string missing(const MechanismSpec& spec) {
  const auto& dimensionality = spec.dimensionality;
  if (dimensionality.name != "single" && dimensionality.name != "multi") {
    return "no definition of dimensionality '" + dimensionality.name + "' in kernels/reference";
  }
  const Form form = form_of(dimensionality);
  const auto score = make_definition<double, Score>(spec.score, form);
  if (!score) return "no definition of score '" + spec.score.name + "' in kernels/reference";
  if (!make_definition<double, Alignment>(spec.align))
    return "no definition of alignment '" + spec.align.name + "' in kernels/reference";
  const auto forms = score->forms();
  if (std::find(forms.begin(), forms.end(), form) != forms.end()) return "";
  std::vector<std::string> known;
  for (const Form one : forms) known.push_back(spec_of(one));
  return "score/" + spec.score.to_string() + ": no definition for dimensionality " + spec_of(form) + "; it has " +
         joined(known);
}

std::vector<std::string> score_names() {
  return definition_names<Score, Form>();
}
std::vector<std::string> align_names() {
  return definition_names<Alignment>();
}

std::map<std::string, std::vector<int64_t>> parameter_shapes(const MechanismSpec& spec, const Widths& widths) {
  const std::string reason = missing(spec);
  check(reason.empty(), reason);
  const Form form = form_of(spec.dimensionality);
  const Sizes sizes{widths.query_dim, widths.key_dim, widths.value_dim, 1, form};
  std::map<std::string, std::vector<int64_t>> all;
  const auto add = [&](const std::string& part, const std::vector<Declared>& declared) {
    for (const auto& one : declared) {
      auto& shape = all[part + one.name] = one.shape;
      std::replace(shape.begin(), shape.end(), kHidden, widths.hidden_dim);
    }
  };
  add("score.", make_definition<double, Score>(spec.score, form)->parameters(sizes));
  add("align.", make_definition<double, Alignment>(spec.align)->parameters(sizes));
  return all;
}

template <typename Real>
Answer<Real> attend(const Problem<Real>& problem, const ParallelFor& parallel_for) {
  return Call<Real>(problem).run(parallel_for);
}

template Answer<double> attend(const Problem<double>&, const ParallelFor&);
template Answer<Complex> attend(const Problem<Complex>&, const ParallelFor&);

}  // namespace heed::kernels::reference
