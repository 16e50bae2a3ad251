#include "heed/structures/decode/decoder.h"

#include <cmath>
#include <tuple>

#include "heed/structures/checks.h"
#include "heed/structures/decode/selected.h"
#include "heed/structures/uses.h"

namespace heed {
namespace {

/// after where keep [B] is true, before elsewhere; [B, D].
Tensor where_real(const Tensor& keep, const Tensor& after, const Tensor& before) {
  return after.defined() ? at::where(keep.unsqueeze(1), after, before) : after;
}

DecoderState where_real(const Tensor& keep, DecoderState after, const DecoderState& before) {
  after.hidden = where_real(keep, after.hidden, before.hidden);
  after.cell = where_real(keep, after.cell, before.cell);
  after.fed = where_real(keep, after.fed, before.fed);
  return after;
}

/// x with `nothing` where keep [B, T] is false; axis: that of the queries in x.
Tensor at_real(const Tensor& x, const Tensor& keep, int64_t axis, double nothing) {
  if (!keep.defined()) return x;
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = keep.size(0);
  shape[static_cast<size_t>(axis)] = keep.size(1);
  return x.masked_fill(keep.view(shape).logical_not(), nothing);
}

/// What an Attended holds for each query, and what it holds where there is nothing.
struct PerQuery {
  Tensor Attended::*field;
  double nothing;
};
const std::vector<PerQuery> kPerQuery{{&Attended::weights, 0},   {&Attended::lse, -INFINITY},
                                      {&Attended::entropy, 0},   {&Attended::top_weights, 0},
                                      {&Attended::top_keys, -1}, {&Attended::log_probability, 0}};

/// As if the queries of all steps had come in one call; axis: that of the queries, behind the heads if there are any.
Attended joined_steps(const std::vector<Attended>& steps, const Tensor& keep, int64_t axis) {
  const auto all_of = [&](Tensor Attended::*field) {
    std::vector<Tensor> all;
    for (const auto& step : steps) all.push_back(step.*field);
    return all;
  };
  const Attended& first = steps.front();
  Attended all = first;
  all.context = at_real(at::cat(all_of(&Attended::context), 1), keep, 1, 0);
  const bool once = first.selected.defined();  // a policy chooses keys once, whatever the queries
  for (const auto& [field, nothing] : kPerQuery)
    if ((first.*field).defined() && !(once && field == &Attended::log_probability))
      all.*field = at_real(at::cat(all_of(field), axis), keep, axis, nothing);
  if (first.column_mass.defined())
    all.column_mass = at_real(at::stack(all_of(&Attended::column_mass), 1), keep, 1, 0).sum(1);
  return all;
}

/// The same without any query.
Decoded without_queries(Decoded one, int64_t axis) {
  one.features = {one.features.rows.narrow(1, 0, 0), {}};
  one.attended.context = one.attended.context.narrow(1, 0, 0);
  for (const auto& [field, nothing] : kPerQuery) {
    auto& x = one.attended.*field;
    if (x.defined() && x.dim() > axis) x = x.narrow(axis, 0, 0);
  }
  return one;
}

void check_forced(const Features& targets, const Features& source, const Want& want) {
  check(targets.rows.defined() && targets.rows.dim() == 3, "decoder: targets are ", shape_of(targets.rows),
        ", expected [B, T, E]");
  check_keep("decoder: targets", targets);
  check(source.rows.defined() && source.rows.dim() == 3 && source.batch() == targets.batch(), "decoder: source is ",
        shape_of(source.rows), " and targets ", shape_of(targets.rows), "; expected the same batch size");
  check(want.rows.empty() && !want.links.defined(),
        "decoder: chosen rows or links are wanted, but it makes one query at a time; want all weights and choose");
}

}  // namespace

DecoderState DecoderState::select(const Tensor& rows) const {
  const int64_t batch = memory.batch();
  check_rows("decoder_state", rows, batch);
  const auto of = [&](const Tensor& x) {
    check(!x.defined() || (x.dim() == 2 && x.size(0) == batch), "decoder_state: a part is ", shape_of(x),
          ", expected a row for each of ", batch);
    return x.defined() ? x.index_select(0, rows) : x;
  };
  return {selected(memory, rows), of(hidden), of(cell), of(fed), targets, seed, stream};
}

Decoded teacher_forced(StepwiseDecoder& decoder, const Features& given, const Features& source, const Call& call,
                       const Tensor& from) {
  check_forced(given, source, call.want);
  const int64_t axis = decoder.options().heads > 1 ? 2 : 1;
  if (given.length() == 0) {  // the shapes of one target that is not real
    const auto flags = given.rows.options().dtype(at::kBool);
    const Features one{at::zeros({given.batch(), 1, given.width()}, given.rows.options()),
                       at::zeros({given.batch(), 1}, flags)};
    Decoded none = without_queries(teacher_forced(decoder, one, source, call, from), axis);
    none.features.keep = given.keep;
    return none;
  }
  const Features targets = given.without_padding();
  DecoderState state = decoder.start(source, from);
  std::vector<Tensor> outputs;
  std::vector<Attended> steps;
  for (int64_t t = 0; t < targets.length(); ++t) {
    Stepped next = decoder.step(targets.rows.select(1, t), state, call);
    state = given.keep.defined() ? where_real(given.keep.select(1, t), std::move(next.state), state)
                                 : std::move(next.state);
    outputs.push_back(next.output);
    steps.push_back(std::move(next.attended));
  }
  return {given.with_rows(at::stack(outputs, 1)).without_padding(), joined_steps(steps, given.keep, axis)};
}

GlimpseImpl::GlimpseImpl(const DecoderOptions& options) : options_(options) {
  auto& o = options_;
  check(o.embedding > 0 && o.state > 0 && o.source > 0 && o.out > 0,
        "decoder: widths of embedding, state, source and out are ", o.embedding, ", ", o.state, ", ", o.source, ", ",
        o.out, "; expected more than 0");
  check(o.start >= 0, "decoder: start is ", o.start, " wide, expected at least 0");
  if (o.start == 0) o.start = o.source;
  reset();
}

void GlimpseImpl::reset() {
  const auto& o = options_;
  attention_ = register_module("attention", Attention(AttentionOptions{.query = o.state,
                                                                       .keys = o.source,
                                                                       .values = o.source,
                                                                       .hidden = o.hidden,
                                                                       .heads = o.heads,
                                                                       .mechanism = Mechanism::parse(o.mechanism),
                                                                       .dropout = o.dropout}));
  sources_ = std::make_shared<std::atomic<uint64_t>>(sources_ ? sources_->load() : 0);
  start_ = register_module("start", torch::nn::Linear(o.start, o.state));
  if (o.cell == Cell::lstm) start_cell_ = register_module("start_cell", torch::nn::Linear(o.start, o.state));
  if (o.context_gate) gate_ = register_module("gate", torch::nn::Linear(o.state, 1));
}

DecoderState GlimpseImpl::start(const Features& source, const Tensor& from) {
  const auto& o = options_;
  check(source.rows.defined() && source.rows.dim() == 3 && source.width() == o.source, "decoder: source is ",
        shape_of(source.rows), ", expected [B, L, ", o.source, "]");
  check_attendable("decoder: source", source.rows);
  check_type("decoder: source", source.rows, start_->weight);
  check_keep("decoder: source", source);
  const auto basis = from.defined() ? from : mean(source).squeeze(1);  // [B, start]
  check(basis.dim() == 2 && basis.size(0) == source.batch() && basis.size(1) == o.start, "decoder: it starts from ",
        shape_of(basis), ", expected [", source.batch(), ", ", o.start, "]");
  check_type("decoder: what it starts from", basis, start_->weight);
  Mask mask;
  if (source.keep.defined()) mask.keep = source.keep.unsqueeze(1);  // [B, 1, L]
  DecoderState state;
  state.memory = attention_->prepare(source.rows, source.rows, mask);
  state.hidden = start_(basis).tanh();
  if (start_cell_) state.cell = start_cell_(basis);
  return state;
}

/// A policy chooses keys once for a source: all targets draw with what the first of them drew with. Without a stream of
/// its own a call in training is the next one; the count is ours, since Attention would count targets.
Noise GlimpseImpl::noise_of_source(const Call& call, const DecoderState& state) const {
  Noise own = nth_use(call, 0).noise;
  if (state.seed != 0) {
    own.seed = state.seed;
    own.stream = state.stream;
  } else if (is_training() && own.stream == 0) {
    own.stream = 1 + sources_->fetch_add(1) % ((uint64_t{1} << 30) - 1);
  }
  return own;
}

Tensor GlimpseImpl::look(const Tensor& query, DecoderState& state, const Call& call, Attended& attended) {
  Call own = nth_use(call, static_cast<uint64_t>(state.targets));
  own.mask.first_query = state.targets;
  if (has_policy()) own.noise = noise_of_source(call, state);
  attended = attention_->forward(query.unsqueeze(1), state.memory, own);
  if (has_policy() && attended.plan.seed != 0) {
    state.seed = attended.plan.seed;
    state.stream = own.noise.stream;
  }
  const auto context = attended.context.squeeze(1);  // [B, source]
  return gate_ ? gate_(query).sigmoid() * context : context;
}

StepCellImpl::StepCellImpl(Cell cell, int64_t in, int64_t state) : cell_(cell), in_(in), state_(state) {
  reset();
}

void StepCellImpl::reset() {
  if (cell_ == Cell::gru)
    gru_ = register_module("gru", torch::nn::GRUCell(in_, state_));
  else
    lstm_ = register_module("lstm", torch::nn::LSTMCell(in_, state_));
}

void StepCellImpl::forward(const Tensor& input, DecoderState& state) {
  if (gru_)
    state.hidden = gru_(input, state.hidden);
  else
    std::tie(state.hidden, state.cell) = lstm_(input, std::make_tuple(state.hidden, state.cell));
}

void check_row(const std::string& what, const Tensor& x, const DecoderState& state, int64_t width) {
  const auto& source = state.memory.values.rows();
  check(x.defined() && x.dim() == 2 && x.size(0) == source.size(0) && x.size(1) == width, what, " is ", shape_of(x),
        ", expected [", source.size(0), ", ", width, "]");
  check(x.scalar_type() == source.scalar_type(), what, " is ", x.scalar_type(), ", the source is ",
        source.scalar_type(), "; convert one of them");
  check(x.device() == source.device(), what, " is on ", x.device(), ", the source on ", source.device(),
        "; move one of them");
}

void check_step(const std::string& who, const Tensor& embedded, const DecoderOptions& o, const DecoderState& state) {
  check(state.memory.values.defined(), who, ": the state is empty; start() makes one");
  check_row(who + ": a target", embedded, state, o.embedding);
  check_row(who + ": hidden", state.hidden, state, o.state);
  if (o.cell == Cell::lstm) check_row(who + ": cell", state.cell, state, o.state);
}

}  // namespace heed
