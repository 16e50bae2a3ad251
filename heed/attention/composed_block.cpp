#include "heed/attention/composed_block.h"

#include <ATen/ATen.h>

#include "heed/attention/mechanism_parts.h"
#include "heed/torch_support/send.h"

namespace heed {

using namespace backend;

namespace {

Tensor biased(const Tensor& scores, const Call& call, const BlockRange& range, const Tensors& in) {
  auto e = call.scale == 1 ? scores : scores * call.scale;
  if (call.soft_cap > 0) e = call.soft_cap * at::tanh(e / call.soft_cap);
  if (in[kFull].defined()) e = e + in[kFull].unsqueeze(-1);
  if (in[kPerKey].defined()) e = e + in[kPerKey].unsqueeze(2).unsqueeze(-1);
  if (!in[kRelative].defined() && !in[kAlibi].defined()) return e;

  const int64_t first = first_position(call.mask, range), count = scores.size(2);
  const auto whole = at::TensorOptions().dtype(at::kLong).device(scores.device());
  const auto query = at::arange(first, first + count, whole).unsqueeze(-1);
  const auto ahead = at::arange(range.keys, whole) - query;  // j - i, [lq, Lk]
  if (in[kRelative].defined()) {
    const int64_t max = in[kRelative].size(1) / 2;
    const auto index = ahead.clamp(-max, max) + max;
    const auto found = in[kRelative].index_select(1, index.flatten());
    e = e + found.view({1, -1, count, range.keys, 1});
  }
  if (in[kAlibi].defined()) e = e - in[kAlibi].view({1, -1, 1, 1, 1}) * ahead.abs().to(e.scalar_type()).unsqueeze(-1);
  return e;
}

/// sum_j a_j v_j; weights [B, H, Lq, Lk, W], values [B, H, Lk, Dv].
Tensor read_out(const Tensor& weights, const Tensor& values, bool single) {
  if (single) return at::matmul(weights.squeeze(-1), values);
  return at::einsum("bhijw,bhjw->bhiw", {weights, values});
}

Tensor dropped(const Tensor& weights, double rate, const Draws& draws) {
  const auto u = draws.uniform(kDropout, weights.sizes(), weights.options());
  return weights * (u >= rate).to(weights.scalar_type()) / (1 - rate);
}

/// log a; `nothing` where the weight is 0.
Tensor log_weights(const Aligned& a, double nothing) {
  const auto none = (a.weights.detach() > 0).logical_not();
  if (a.log_weights.defined()) return a.log_weights.masked_fill(none, nothing);
  return at::log(a.weights.masked_fill(none, 1.0)).masked_fill(none, nothing);
}

/// The log-weights at links; -inf for masked keys. A weight may underflow to 0 and still have a finite logarithm.
Tensor at_links(const Aligned& a, const Tensor& keep, const Tensor& links) {
  const auto logs =
      a.log_weights.defined() ? a.log_weights.masked_fill(keep.logical_not(), -INFINITY) : log_weights(a, -INFINITY);
  const auto column = [&](int64_t i) { return links.select(1, i); };
  return logs.index({column(0), column(1), column(2), column(3)});  // [n, W]
}

/// Checks the result of a part: a wrong shape could broadcast silently.
void check_shape(const std::string& part, const char* what, const Tensor& found, const std::vector<int64_t>& expected) {
  check(found.sizes() == at::IntArrayRef(expected), part, what, shape_of(found),
        ", expected [B, H, Lq, Lk, W] = ", at::IntArrayRef(expected));
}

/// The scores of a block, or zeros if the alignment does not depend on them.
Tensor raw_scores(const CallRecord& r, const Parameters& p, const Tensors& in, const std::vector<int64_t>& shape) {
  if (!r.offers.scores) return at::zeros(shape, in[kValues].options());
  const auto scores = r.parts->score->score(p.of("score"), in[kQuery], repeat_heads(in[kKeys], r.heads));
  check_shape(r.parts->score_name, ": scores are ", scores, shape);
  return scores;
}

}  // namespace

Tensors run_block(const CallRecord& r, const Block& block, const Tensors& in) {
  const Call& call = r.call;
  const auto& range = block.range;
  const Parameters p = r.names.with_values(in, kSlots);
  const int64_t count = in[kQuery].size(2);
  const std::vector<int64_t> shape{in[kQuery].size(0), r.heads, count, r.keys, r.width()};
  const auto scores = biased(raw_scores(r, p, in, shape), call, range, in);

  Mask mask = call.mask;
  mask.keep = in[kKeep];
  mask.key_count = in[kKeyCount];
  // A kept score of -inf counts as masked.
  const auto keep = kept(mask, range, count, scores.device()).logical_and(scores.detach() != -INFINITY);
  const auto masked = keep.logical_not();
  // If weights depend on each other, a score of +inf has no defined result: it becomes NaN, which the alignment
  // propagates to all keys of the query.
  const auto finite = r.offers.compares ? scores.masked_fill(scores.detach() == INFINITY, NAN) : scores;
  const auto index = at::TensorOptions().dtype(scores.scalar_type()).device(scores.device());
  const int64_t first = first_position(mask, range);
  const Draws draws{call.noise.seed, call.noise.stream, call.noise.first_row + range.first_row,
                    mask.first_query + range.first_query};
  Aligned a = r.parts->align->align(p.of("align"),
                                    {.scores = finite.masked_fill(masked, 0.0),
                                     .keep = keep,
                                     .query = in[kAlignQuery],
                                     .keys = in[kAlignKeys],
                                     .key_count = in[kReachCount].defined() ? in[kReachCount].to(scores.scalar_type())
                                                                            : at::full({1, 1, 1, 1, 1}, r.keys, index),
                                     .query_index = at::arange(first, first + count, index).view({-1, 1, 1}),
                                     .key_index = at::arange(r.keys, index).view({-1, 1}),
                                     .draw = {call.noise.sample, draws, in[kUniforms]}});
  check_shape(r.parts->align_name, ": weights are ", a.weights, shape);
  a.weights = a.weights.masked_fill(masked, 0.0);

  const auto no_key = keep.any(kKeyAxis).logical_not();
  const auto& outputs = call.outputs;
  const auto values = repeat_heads(in[kValues], r.heads);
  Tensors out(kOutputs);
  out[kContext] =
      read_out(call.noise.dropout > 0 ? dropped(a.weights, call.noise.dropout, draws) : a.weights, values, r.single());
  if (outputs.weights) {
    auto shown = a.weights;
    if (!outputs.rows.empty())
      shown = block.rows.empty() ? shown.narrow(2, 0, 0) : shown.index_select(2, indices(block.rows, shown.device()));
    if (!outputs.heads.empty()) shown = shown.index_select(1, indices(outputs.heads, shown.device()));
    out[kWeights] = shown;
  }
  if (outputs.lse) out[kLse] = a.lse.masked_fill(no_key, -INFINITY);
  if (outputs.entropy)
    out[kEntropy] =
        a.entropy.defined() ? a.entropy.masked_fill(no_key, 0.0) : -(a.weights * log_weights(a, 0.0)).sum(kKeyAxis);
  if (outputs.column_mass) out[kColumnMass] = a.weights.sum(2);
  if (outputs.top > 0) std::tie(out[kTopWeights], out[kTopKeys]) = top_of(a.weights, outputs.top);
  if (block.links.defined()) out[kLinks] = at_links(a, keep, block.links);
  if (a.log_probability.defined()) out[kLogProbability] = a.log_probability.masked_fill(no_key, 0.0);
  return out;
}

}  // namespace heed
