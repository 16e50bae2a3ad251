#include "heed/structures/decode/teacher_forced.h"

#include <cmath>

#include "heed/structures/checks.h"
#include "heed/structures/decode/forced_run.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

/// Whether padding may precede a real target. The values of a mask on a GPU are not read: that would wait for it.
bool may_have_holes(const Features& targets) {
  const Tensor& keep = targets.keep;  // [B, T]
  if (!keep.defined() || targets.real_first) return false;
  if (!keep.device().is_cpu()) return true;
  const int64_t T = keep.size(1);
  return keep.narrow(1, 1, T - 1).logical_and(keep.narrow(1, 0, T - 1).logical_not()).any().item<bool>();
}

/// x with the value `nothing` where keep [B, T] is false; axis: query axis of x.
Tensor at_real(const Tensor& x, const Tensor& keep, int64_t axis, double nothing) {
  if (!keep.defined()) return x;
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = keep.size(0);
  shape[static_cast<size_t>(axis)] = keep.size(1);
  return x.masked_fill(keep.view(shape).logical_not(), nothing);
}

/// The fields of Attended that have a query axis, and their values at padding.
struct PerQuery {
  Tensor Attended::*field;
  double nothing;
};
const std::vector<PerQuery> kPerQuery{{&Attended::weights, 0},   {&Attended::lse, -INFINITY},
                                      {&Attended::entropy, 0},   {&Attended::top_weights, 0},
                                      {&Attended::top_keys, -1}, {&Attended::log_probability, 0}};

/// The result as if the queries of all steps had been one call; axis: query axis, which follows the head axis if any.
Attended joined_steps(const std::vector<Attended>& steps, const Tensor& keep, int64_t axis) {
  const auto all_of = [&](Tensor Attended::*field) {
    std::vector<Tensor> all;
    for (const auto& step : steps) all.push_back(step.*field);
    return all;
  };
  const Attended& first = steps.front();
  Attended all = first;
  all.context = at_real(at::cat(all_of(&Attended::context), 1), keep, 1, 0);
  const bool once = first.selected.defined();  // a policy selects keys once for all queries
  for (const auto& [field, nothing] : kPerQuery)
    if ((first.*field).defined() && !(once && field == &Attended::log_probability))
      all.*field = at_real(at::cat(all_of(field), axis), keep, axis, nothing);
  if (first.column_mass.defined())
    all.column_mass = at_real(at::stack(all_of(&Attended::column_mass), 1), keep, 1, 0).sum(1);
  return all;
}

/// The same with zero queries.
Decoded without_queries(Decoded one, int64_t axis) {
  one.features = {one.features.rows.narrow(1, 0, 0), {}};
  one.attended.context = one.attended.context.narrow(1, 0, 0);
  for (const auto& [field, nothing] : kPerQuery) {
    auto& x = one.attended.*field;
    if (x.defined() && x.dim() > axis) x = x.narrow(axis, 0, 0);
  }
  return one;
}

void check_forced(const Features& targets, const Features& source, const Outputs& outputs) {
  check(targets.rows.defined() && targets.rows.dim() == 3, "decoder: targets are ", shape_of(targets.rows),
        ", expected [B, T, E]");
  check_keep("decoder: targets", targets);
  check(source.rows.defined() && source.rows.dim() == 3 && source.batch() == targets.batch(), "decoder: source is ",
        shape_of(source.rows), " and targets ", shape_of(targets.rows), "; expected the same batch size");
  check(outputs.rows.empty(),
        "decoder: got a request for rows, expected none: it has one query at a time; request all weights");
}

}  // namespace

ForcedRun::ForcedRun(const Features& given, DecoderState first, const Call& its_call)
    : targets(given.without_padding().rows.transpose(0, 1).contiguous()),
      call(its_call),
      state(std::move(first)),
      keys_(state.memory.keys.rows()),
      align_keys_(state.memory.align_keys.rows()),
      values_(state.memory.values.rows()),
      source_(state.source.rows) {
  lend_source();
  steps.reserve(static_cast<size_t>(length()));
  if (may_have_holes(given)) keep_ = given.keep.t().unsqueeze(-1);
  if (call.outputs.links.defined()) sort_links();
}

/// Links [n, 4] by query, since each step has one.
void ForcedRun::sort_links() {
  const Tensor& links = call.outputs.links;
  check(links.scalar_type() == at::kLong && links.dim() == 2 && links.size(1) == 4, "decoder: links is ",
        links.scalar_type(), " ", shape_of(links), ", expected int64 [n, 4] = batch element, head, target, key");
  const Tensor queries = links.select(1, 2).to(at::kCPU).contiguous();
  const auto* query = queries.data_ptr<int64_t>();
  const int64_t n = links.size(0), T = length();
  first_link_.assign(static_cast<size_t>(T) + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    check(query[i] >= 0 && query[i] < T, "decoder: links has target ", query[i], ", expected 0 to ", T - 1);
    ++first_link_[static_cast<size_t>(query[i]) + 1];
  }
  for (size_t t = 1; t < first_link_.size(); ++t) first_link_[t] += first_link_[t - 1];
  std::vector<int64_t> next = first_link_, order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    link_positions_.push_back(next[static_cast<size_t>(query[i])]++);
    order[static_cast<size_t>(link_positions_.back())] = i;
  }
  links_ = links.index_select(0, at::tensor(order, at::kLong).to(links.device()));
}

Call ForcedRun::call_at(int64_t t) const {
  Call own = call;
  if (!links_.defined()) return own;
  const int64_t first = first_link_[static_cast<size_t>(t)], count = first_link_[static_cast<size_t>(t) + 1] - first;
  own.outputs.links.reset();
  if (count == 0) return own;
  own.outputs.links = links_.narrow(0, first, count).clone();
  own.outputs.links.select(1, 2).zero_();
  return own;
}

Tensor ForcedRun::link_log_weights(const Tensor& keep) const {
  if (!links_.defined()) return {};
  std::vector<Tensor> found;
  for (const auto& step : steps)
    if (step.link_log_weights.defined()) found.push_back(step.link_log_weights);
  if (found.empty()) return at::zeros({0}, targets.options());
  const Tensor all = at::cat(found).index_select(0, at::tensor(link_positions_, at::kLong).to(links_.device()));
  if (!keep.defined()) return all;
  const Tensor& links = call.outputs.links;
  const Tensor real = keep.index({links.select(1, 0), links.select(1, 2)});  // [n]
  return all.masked_fill((all.dim() == 2 ? real.unsqueeze(1) : real).logical_not(), -INFINITY);
}

/// Gives the next step its own handles to the source, whose gradients accumulate in CollectedSum.
void ForcedRun::lend_source() {
  state.memory.keys = Growing(keys_.for_step());
  state.memory.align_keys = Growing(align_keys_.for_step());
  state.memory.values = Growing(values_.for_step());
  state.source.rows = source_.for_step();
}

void ForcedRun::go_on(int64_t t, DecoderState next) {
  if (keep_.defined()) {
    const auto real = keep_.select(0, t);  // [B, 1]
    const auto hold = [&](Tensor& after, const Tensor& before) {
      if (after.defined()) after = at::where(real, after, before);
    };
    hold(next.hidden, state.hidden);
    hold(next.cell, state.cell);
    hold(next.fed, state.fed);
  }
  state = std::move(next);
  if (t + 1 < length()) lend_source();
}

Decoded teacher_forced(StepwiseDecoder& decoder, const Features& targets, const Features& given_source,
                       const Call& call, const Tensor& given_from) {
  const Features given = targets.with_rows(full(targets.rows)),
                 source = given_source.with_rows(full(given_source.rows));
  const Tensor from = full(given_from);
  const FullPrecision precision;
  check_forced(given, source, call.outputs);
  const int64_t axis = decoder.has_heads() ? 2 : 1;
  if (given.length() == 0) {  // takes the shapes from a run with one padded target
    const auto flags = given.rows.options().dtype(at::kBool);
    const Features one{at::zeros({given.batch(), 1, given.width()}, given.rows.options()),
                       at::zeros({given.batch(), 1}, flags)};
    Decoded none = without_queries(teacher_forced(decoder, one, source, call, from), axis);
    none.features.keep = given.keep;
    return none;
  }
  const auto branch = NoiseScope::branch();  // one use of noise for each target
  DecoderState first = decoder.start(source, from);
  check_step("decoder", given.rows.select(1, 0), decoder.options(), first);
  ForcedRun run(given, std::move(first), call);
  const auto outputs = decoder.run(run).transpose(0, 1);  // [B, T, out]
  Decoded decoded{given.with_rows(outputs).without_padding(), joined_steps(run.steps, given.keep, axis)};
  decoded.attended.link_log_weights = run.link_log_weights(given.keep);
  return decoded;
}

}  // namespace heed
