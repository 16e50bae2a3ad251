// The composed path: score -> scale -> soft cap -> bias -> mask -> align -> dropout -> weighted sum, block by block.
// See decision 9 in ARCHITECTURE.md.

#include "heed/attention/composed.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "heed/attention/slots.h"
#include "heed/torch_support/recompute.h"

namespace heed {
namespace {

/// Batch and query axes of each slot; -1: it has no such axis and is not split.
struct Axes {
  int batch, query;
};
constexpr std::array<Axes, kSlots> kAxes{{{0, 2},
                                          {0, -1},
                                          {0, 2},
                                          {0, -1},
                                          {0, -1},
                                          {0, 2},
                                          {0, -1},
                                          {0, -1},
                                          {0, 2},
                                          {0, -1},
                                          {-1, -1},
                                          {-1, -1},
                                          {0, 2},
                                          {0, -1}}};

/// Arguments of one block.
struct Block {
  BlockRange range;
  std::vector<int64_t> rows;  // queries whose weights are requested, counted within the block
  Tensor links;               // [n, 4], counted within the block
};

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

Tensors run_block(const Work& work, const Block& block, const Tensors& in) {
  const auto& [mechanism, names, call] = work;
  const Parameters p = names.with_values(in, kSlots);
  const auto& range = block.range;
  const int64_t H = in[kQuery].size(1), count = in[kQuery].size(2);
  const auto keys = repeat_heads(in[kKeys], H), values = repeat_heads(in[kValues], H);
  const auto raw = mechanism.score().score(p.of("score"), in[kQuery], keys);
  const std::vector<int64_t> expected{in[kQuery].size(0), H, count, range.keys, names.sizes().width()};
  check_shape(mechanism.score_name(), ": scores are ", raw, expected);
  const auto scores = biased(raw, call, range, in);

  const Mask mask = mask_from(call.mask, in);
  // A kept score of -inf counts as masked.
  const auto keep = kept(mask, range, count, scores.device()).logical_and(scores.detach() != -INFINITY);
  const auto gone = keep.logical_not();
  // If weights depend on each other, a score of +inf has no defined result: it becomes NaN, which the alignment
  // propagates to all keys of the query.
  const auto finite =
      mechanism.align().offers().compares ? scores.masked_fill(scores.detach() == INFINITY, NAN) : scores;
  const auto index = at::TensorOptions().dtype(scores.scalar_type()).device(scores.device());
  const int64_t first = first_position(mask, range);
  const Draws draws{call.noise.seed, call.noise.stream, call.noise.first_row + range.first_row,
                    mask.first_query + range.first_query};
  Aligned a =
      mechanism.align().align(p.of("align"), {.scores = finite.masked_fill(gone, 0.0),
                                              .keep = keep,
                                              .query = in[kAlignQuery],
                                              .keys = in[kAlignKeys],
                                              .key_count = in[kReachCount].to(scores.scalar_type()),
                                              .query_index = at::arange(first, first + count, index).view({-1, 1, 1}),
                                              .key_index = at::arange(range.keys, index).view({-1, 1}),
                                              .draw = {call.noise.sample, draws, in[kUniforms]}});
  check_shape(mechanism.align_name(), ": weights are ", a.weights, expected);
  a.weights = a.weights.masked_fill(gone, 0.0);

  const auto dead = keep.any(kKeyAxis).logical_not();
  const bool single = mechanism.dimensionality() == Dimensionality::single;
  const auto& outputs = call.outputs;
  Tensors out(kOuts);
  out[kContext] =
      read_out(call.noise.dropout > 0 ? dropped(a.weights, call.noise.dropout, draws) : a.weights, values, single);
  if (outputs.weights) {
    auto shown = a.weights;
    if (!outputs.rows.empty()) shown = shown.index_select(2, at::tensor(block.rows, at::kLong).to(shown.device()));
    if (!outputs.heads.empty()) shown = shown.index_select(1, at::tensor(outputs.heads, at::kLong).to(shown.device()));
    out[kWeights] = shown;
  }
  if (outputs.lse) out[kLse] = a.lse.masked_fill(dead, -INFINITY);
  if (outputs.entropy)
    out[kEntropy] =
        a.entropy.defined() ? a.entropy.masked_fill(dead, 0.0) : -(a.weights * log_weights(a, 0.0)).sum(kKeyAxis);
  if (outputs.column_mass) out[kColumnMass] = a.weights.sum(2);
  if (outputs.top > 0) std::tie(out[kTopWeights], out[kTopKeys]) = top_of(a.weights, outputs.top);
  if (block.links.defined()) out[kLinks] = at_links(a, keep, block.links);
  if (a.log_probability.defined()) out[kLogProbability] = a.log_probability.masked_fill(dead, 0.0);
  return out;
}

/// x split along an axis; copies of x if it has no such axis, or one of size 1. split() makes one autograd node, whose
/// backward is one concatenation; narrow() would make one node per part, each filling a tensor with zeros.
std::vector<Tensor> cut(const Tensor& x, int axis, int64_t size, int64_t parts) {
  if (!x.defined() || axis < 0 || x.size(axis) == 1) return std::vector<Tensor>(static_cast<size_t>(parts), x);
  return x.split(size, axis);
}

/// The links of each block, with indices counted within it, and their order in the call.
struct SortedLinks {
  std::vector<Tensor> of_block;  // undefined if a block has none
  std::vector<int64_t> order;    // order[i]: index in the call of the i-th sorted link
};
SortedLinks sort_links(const Tensor& links, const Plan& plan, int64_t row_parts, int64_t query_parts) {
  SortedLinks sorted;
  sorted.of_block.resize(static_cast<size_t>(row_parts * query_parts));
  if (!links.defined() || links.size(0) == 0) return sorted;
  const auto here = links.to(at::kCPU).contiguous();
  const auto at = here.accessor<int64_t, 2>();
  const auto block_of = [&](int64_t i) {
    return at[i][0] / plan.block_rows * query_parts + at[i][2] / plan.block_queries;
  };
  sorted.order.resize(static_cast<size_t>(here.size(0)));
  std::iota(sorted.order.begin(), sorted.order.end(), 0);
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](int64_t a, int64_t b) { return block_of(a) < block_of(b); });
  const auto first = at::tensor({plan.block_rows, int64_t{0}, plan.block_queries, int64_t{0}}, at::kLong);
  for (size_t from = 0; from < sorted.order.size();) {
    size_t to = from;
    const int64_t block = block_of(sorted.order[from]);
    while (to < sorted.order.size() && block_of(sorted.order[to]) == block) ++to;
    const std::vector<int64_t> some(sorted.order.begin() + static_cast<std::ptrdiff_t>(from),
                                    sorted.order.begin() + static_cast<std::ptrdiff_t>(to));
    auto own = here.index_select(0, at::tensor(some, at::kLong)).clone();
    own.select(1, 0).remainder_(plan.block_rows);
    own.select(1, 2).remainder_(plan.block_queries);
    sorted.of_block[static_cast<size_t>(block)] = own.to(links.device());
    from = to;
  }
  return sorted;
}

/// Undoes the permutation `order` along an axis.
Tensor in_callers_order(const Tensor& x, int64_t axis, const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return x.index_select(axis, at::tensor(back, at::kLong).to(x.device()));
}

Tensor joined_along(const std::vector<Tensor>& pieces, int64_t axis) {
  return pieces.empty() ? Tensor() : pieces.size() == 1 ? pieces[0] : at::cat(pieces, axis);
}

}  // namespace

Tensor repeat_heads(const Tensor& x, int64_t heads) {
  if (!x.defined() || x.size(1) == heads) return x;
  const int64_t times = heads / x.size(1);
  return x.unsqueeze(2).expand({-1, -1, times, -1, -1}).flatten(1, 2);
}

std::pair<Tensor, Tensor> top_of(const Tensor& weights, int64_t count) {
  const int64_t some = std::min(count, weights.size(kKeyAxis));
  const auto found_first =
      weights.detach().masked_fill(weights.detach() == 0, -INFINITY);  // zeros sort after negative weights
  const auto order = std::get<1>(found_first.sort(/*stable=*/true, kKeyAxis, /*descending=*/true));
  auto keys = order.narrow(kKeyAxis, 0, some);
  const auto found = weights.gather(kKeyAxis, keys);
  keys = keys.masked_fill(found.detach() == 0, -1);
  return {at::constant_pad_nd(found, {0, 0, 0, count - some}), at::constant_pad_nd(keys, {0, 0, 0, count - some}, -1)};
}

Plan plan_blocks(const Mechanism& mechanism, const Call& call, at::IntArrayRef query_shape, const Tensor& prepared_keys,
                 const Sizes& sizes, int64_t keys, int64_t element_size) {
  constexpr int64_t kAlignFloats = 8;  // scores, weights, their gradients and a few masks, per channel
  const int64_t B = query_shape[0], H = query_shape[1], Lq = query_shape[2];
  const int64_t per_pair = mechanism.score().floats_per_pair(prepared_keys) + kAlignFloats * sizes.width();
  const int64_t per_query = std::max<int64_t>(1, H * keys * per_pair * element_size);  // of one batch element
  Plan plan;
  plan.path = call.path == Path::stored ? Path::stored : Path::composed;
  const int64_t max = plan.path == Path::stored ? std::numeric_limits<int64_t>::max() : call.block_bytes;
  plan.block_queries = std::clamp<int64_t>(max / per_query, 1, std::max<int64_t>(Lq, 1));
  plan.block_rows = std::clamp<int64_t>(max / per_query / plan.block_queries, 1, std::max<int64_t>(B, 1));
  plan.bytes = plan.block_rows * plan.block_queries * per_query;
  return plan;
}

Attended run_blocks(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                    const Call& call, const Plan& plan) {
  const int64_t B = prepared.query.size(0), Lq = prepared.query.size(2), Lk = prepared.keys.size(2);
  const int64_t row_parts = (B + plan.block_rows - 1) / plan.block_rows;
  const int64_t query_parts = (Lq + plan.block_queries - 1) / plan.block_queries;

  const Tensors in = slots_of(prepared, parameters, call);
  const Tensors tensors(in.begin() + kSlots, in.end());
  Work work = without_tensors(mechanism, parameters, call);
  work.call.outputs.links.reset();  // passed to each block in Block::links

  const SortedLinks links = sort_links(call.outputs.links, plan, row_parts, query_parts);
  std::vector<int64_t> rows_in_order(call.outputs.rows.size());
  std::iota(rows_in_order.begin(), rows_in_order.end(), 0);
  std::stable_sort(rows_in_order.begin(), rows_in_order.end(), [&](int64_t a, int64_t b) {
    return call.outputs.rows[static_cast<size_t>(a)] < call.outputs.rows[static_cast<size_t>(b)];
  });

  std::vector<std::vector<Tensor>> by_row(kSlots);
  for (size_t s = 0; s < kSlots; ++s) by_row[s] = cut(in[s], kAxes[s].batch, plan.block_rows, row_parts);
  std::array<Tensors, kOuts> whole;
  for (int64_t r = 0; r < row_parts; ++r) {
    std::vector<std::vector<Tensor>> parts(kSlots);
    for (size_t s = 0; s < kSlots; ++s)
      parts[s] = cut(by_row[s][static_cast<size_t>(r)], kAxes[s].query, plan.block_queries, query_parts);
    std::array<Tensors, kOuts> pieces;
    for (int64_t i = 0; i < query_parts; ++i) {
      Block block;
      block.range = {r * plan.block_rows, i * plan.block_queries, Lq, Lk, mechanism.score().max_keys()};
      for (const int64_t which : rows_in_order) {
        const int64_t row = call.outputs.rows[static_cast<size_t>(which)] - block.range.first_query;
        if (row >= 0 && row < plan.block_queries) block.rows.push_back(row);
      }
      block.links = links.of_block[static_cast<size_t>(r * query_parts + i)];
      Tensors arguments;
      for (size_t s = 0; s < kSlots; ++s) arguments.push_back(parts[s][static_cast<size_t>(i)]);
      arguments.insert(arguments.end(), tensors.begin(), tensors.end());
      const Step step = [work, block](const Tensors& given) { return run_block(work, block, given); };
      const Tensors out = plan.path == Path::stored ? step(arguments) : recompute(step, arguments);
      for (size_t o = 0; o < kOuts; ++o)
        if (out[o].defined()) pieces[o].push_back(out[o]);
    }
    for (size_t o = 0; o < kOuts; ++o) {
      if (pieces[o].empty()) continue;
      if (o == kColumnMass)
        whole[o].push_back(std::accumulate(pieces[o].begin() + 1, pieces[o].end(), pieces[o][0]));
      else if (o == kLinks)
        whole[o].insert(whole[o].end(), pieces[o].begin(), pieces[o].end());
      else
        whole[o].push_back(joined_along(pieces[o], 2));
    }
  }

  Tensors outs;
  for (const auto& pieces : whole) outs.push_back(joined_along(pieces, 0));
  Attended result = attended_from(outs);
  if (!call.outputs.rows.empty() && result.weights.defined())
    result.weights = in_callers_order(result.weights, 2, rows_in_order);
  if (!links.order.empty())
    result.link_log_weights = in_callers_order(result.link_log_weights, 0, links.order);
  else if (call.outputs.links.defined())
    result.link_log_weights = at::zeros({0, parameters.sizes().width()}, prepared.values.options());
  const Draw draw{call.noise.sample, {call.noise.seed, call.noise.stream, call.noise.first_row, 0}, {}};
  const Policy policy =
      mechanism.align().policy(parameters.of("align"), prepared.align_keys, prepared.reach.keys, draw);
  if (policy.selected.defined()) {
    result.selected = policy.selected;
    result.selected_share = policy.share;
    result.log_probability = policy.log_probability;
  }
  result.plan = plan;
  return result;
}

}  // namespace heed
