#include "heed/structures/decode/decoder.h"

#include <algorithm>
#include <tuple>

#include "heed/attention/noise.h"
#include "heed/attention/score.h"
#include "heed/structures/checks.h"
#include "heed/structures/decode/selected.h"
#include "heed/structures/encode/cell_steps.h"
#include "heed/structures/uses.h"

namespace heed {

DecoderState DecoderState::select(const Tensor& rows) const {
  DecoderState chosen = reorder(rows);
  const auto of = [&](const Tensor& x) { return x.defined() ? x.index_select(0, rows) : x; };
  chosen.memory = selected(memory, rows);
  chosen.source = {of(source.rows), of(source.keep)};
  return chosen;
}

DecoderState DecoderState::reorder(const Tensor& rows) const {
  const int64_t batch = source_rows().defined() ? source_rows().size(0) : 0;
  check_rows("decoder_state", rows, batch);
  const auto of = [&](const Tensor& x) {
    check(!x.defined() || (x.dim() == 2 && x.size(0) == batch), "decoder_state: hidden, cell or fed is ", shape_of(x),
          ", expected [", batch, ", D]");
    return x.defined() ? x.index_select(0, rows) : x;
  };
  DecoderState chosen = *this;
  chosen.hidden = of(hidden);
  chosen.cell = of(cell);
  chosen.fed = of(fed);
  return chosen;
}

void SourceAttention::build(const SourceAttentionOptions& options) {
  options_ = options;
  const auto& o = options_;
  if (o.structure.empty()) {
    attention_ = register_module("attention", Attention(AttentionOptions{.query_dim = o.query_dim,
                                                                         .key_dim = o.source_dim,
                                                                         .value_dim = o.source_dim,
                                                                         .hidden_dim = o.hidden_dim,
                                                                         .num_heads = o.num_heads,
                                                                         .mechanism = Mechanism::parse(o.mechanism),
                                                                         .dropout = o.dropout}));
    has_heads_ = o.num_heads > 1;
  } else {
    structure_ = register_module("structure", heed::structure(o.structure, {.features = {o.source_dim},
                                                                            .query_dim = o.query_dim,
                                                                            .hidden_dim = o.hidden_dim,
                                                                            .num_heads = o.num_heads,
                                                                            .mechanism = o.mechanism,
                                                                            .dropout = o.dropout}));
    find_step();
  }
}

/// Throws Error unless the structure computes one context for one query and one source, and finds the step to report.
/// It runs the structure on L features, L larger than any other size: weights over the source are those of length L.
void SourceAttention::find_step() {
  const auto& o = options_;
  const auto& spec = structure_->to_string();
  const StructureSignature takes = structure_->takes();
  check(takes.features.size() == 1 && takes.depth == 1 && !takes.edges, "decoder: the structure ", spec, " takes ",
        takes.edges       ? "a graph"
        : takes.depth > 1 ? "features in levels"
                          : joined(takes.features),
        "; expected one query and the features of one source");
  const int64_t L = 2 + std::max({o.source_dim, o.query_dim, o.hidden_dim, o.num_heads, structure_->width()});
  StructureInput given{.features = {{at::zeros({1, L, o.source_dim}), {}}}, .query = at::zeros({1, 2, o.query_dim})};
  given.call.outputs.weights = true;
  const at::NoGradGuard no_grad;
  structure_->eval();
  const StructureOutput found = structure_->forward(given);
  structure_->train(is_training());
  check(found.context.dim() == 3 && found.context.size(1) == 2, "decoder: the structure ", spec, " gave ",
        shape_of(found.context), " for two queries; expected one context for each query");
  for (size_t step = 0; step < found.steps.size(); ++step) {
    const auto& [name, attended] = found.steps[step];
    check(
        !attended.selected.defined(), "decoder: ", structure_->inside(), " in ", spec,
        ": got a policy in a structure, expected another alignment: a policy is rewarded for one draw per source, and",
        " a structure may draw several times; use the policy without a structure");
    const auto& weights = attended.weights;  // [B, (H,) Lq, L, (W)]
    const bool channels = weights.size(-1) != L;
    if (channels && (weights.dim() < 4 || weights.size(-2) != L)) continue;
    step_ = name;
    step_number_ = step;
    has_heads_ = weights.dim() == (channels ? 5 : 4);
  }
  check(!step_.empty(), "decoder: no step of the structure ", spec, " attends to the source");
}

std::string SourceAttention::to_string() const {
  return structure_ ? structure_->to_string() + " of " + structure_->inside() : options_.mechanism;
}

bool SourceAttention::steps_alike() const {
  if (structure_ || !attention_ || has_policy()) return false;
  const Mechanism& mechanism = attention_->options().mechanism;
  return !mechanism.align().positional() && !mechanism.score().positional();
}

std::shared_ptr<SourceAttention> SourceAttention::renewed() const {
  auto made = std::make_shared<SourceAttention>(options_);
  made->sources_->store(sources_->load());
  return made;
}

void SourceAttention::prepare(const Features& source, DecoderState& state) {
  if (structure_) {
    state.source = source;
    return;
  }
  Mask mask;
  if (source.keep.defined()) mask.keep = source.keep.unsqueeze(1);  // [B, 1, L]
  state.memory = attention_->prepare(source.rows, source.rows, mask);
}

/// A policy selects keys once for a source: all targets use the seed and stream of the first one. If the call has no
/// stream, training takes the next stream number; it is counted here, since Attention would count targets.
Noise SourceAttention::noise_of_source(const Call& call, const DecoderState& state) const {
  const bool training = attention_->is_training();
  Noise own = nth_use(call, 0).noise;
  if (training) follow_scope(own);
  if (state.seed != 0) {
    own.seed = state.seed;
    own.stream = state.stream;
  } else if (training && own.stream == 0) {
    own.stream = 1 + sources_->fetch_add(1) % ((uint64_t{1} << 30) - 1);
  }
  return own;
}

Tensor SourceAttention::attend(const Tensor& query, DecoderState& state, const Call& call, Attended& attended) {
  Call own = nth_use(call, static_cast<uint64_t>(state.targets));
  own.mask.first_query = state.targets;
  if (structure_) {
    if (call.replace_weights)
      own.replace_weights = [&call, wanted = step_number_, uses = std::make_shared<size_t>(0)](const Tensor& weights,
                                                                                               const Tensor& values) {
        return (*uses)++ == wanted ? call.replace_weights(weights, values) : weights;
      };
    const StructureOutput found =
        structure_->forward({.features = {state.source}, .query = query.unsqueeze(1), .call = std::move(own)});
    attended = found.step(step_);
    return found.context.squeeze(1);  // [B, width]
  }
  if (has_policy()) own.noise = noise_of_source(call, state);
  attended = attention_->forward(query.unsqueeze(1), state.memory, own);
  if (has_policy() && attended.plan.seed != 0) {
    state.seed = attended.plan.seed;
    state.stream = own.noise.stream;
  }
  return attended.context.squeeze(1);
}

GlimpseImpl::GlimpseImpl(const DecoderOptions& options, std::shared_ptr<SourceAttention> attention)
    : options_(options), attention_(std::move(attention)) {
  auto& o = options_;
  check(o.embedding_dim > 0 && o.state_dim > 0 && o.source_dim > 0 && o.out_dim > 0,
        "decoder: widths of embedding, state, source and out are ", o.embedding_dim, ", ", o.state_dim, ", ",
        o.source_dim, ", ", o.out_dim, "; expected more than 0");
  check(o.start_dim >= 0, "decoder: start_dim is ", o.start_dim, ", expected at least 0");
  if (o.start_dim == 0) o.start_dim = o.source_dim;
  if (!attention_)
    attention_ = std::make_shared<SourceAttention>(SourceAttentionOptions{.query_dim = o.state_dim,
                                                                          .source_dim = o.source_dim,
                                                                          .mechanism = o.mechanism,
                                                                          .structure = o.structure,
                                                                          .hidden_dim = o.hidden_dim,
                                                                          .num_heads = o.num_heads,
                                                                          .dropout = o.dropout});
  const auto& given = attention_->options();
  check(given.query_dim == o.state_dim && given.source_dim == o.source_dim, "decoder: got an attention for queries of ",
        given.query_dim, " and a source of ", given.source_dim, " features, expected ", o.state_dim, " and ",
        o.source_dim);
  build();
}

void GlimpseImpl::reset() {
  attention_ = attention_->renewed();
  build();
}

void GlimpseImpl::build() {
  const auto& o = options_;
  for (const auto& child : attention_->named_children()) register_module(child.key(), child.value());
  start_ = register_module("start", torch::nn::Linear(o.start_dim, o.state_dim));
  if (o.cell == Cell::lstm) start_cell_ = register_module("start_cell", torch::nn::Linear(o.start_dim, o.state_dim));
  if (o.context_gate) gate_ = register_module("gate", torch::nn::Linear(o.state_dim, 1));
}

DecoderState GlimpseImpl::start(const Features& source, const Tensor& from) {
  const auto& o = options_;
  check(source.rows.defined() && source.rows.dim() == 3 && source.width() == o.source_dim, "decoder: source is ",
        shape_of(source.rows), ", expected [B, L, ", o.source_dim, "]");
  check_attendable("decoder: source", source.rows);
  check_type("decoder: source", source.rows, start_->weight);
  check_keep("decoder: source", source);
  const auto basis = from.defined() ? from : mean(source).squeeze(1);  // [B, start]
  check(basis.dim() == 2 && basis.size(0) == source.batch() && basis.size(1) == o.start_dim, "decoder: from is ",
        shape_of(basis), ", expected [", source.batch(), ", ", o.start_dim, "]");
  check_type("decoder: from", basis, start_->weight);
  DecoderState state;
  attention_->prepare(source, state);
  state.hidden = start_(basis).tanh();
  if (start_cell_) state.cell = start_cell_(basis);
  return state;
}

Tensor GlimpseImpl::look(const Tensor& query, DecoderState& state, const Call& call, Attended& attended) {
  const Tensor context = attention_->attend(query, state, call, attended);
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

CellSteps StepCellImpl::along(const Tensor& known) const {
  if (gru_) return {cell_, {gru_->weight_ih, gru_->weight_hh, gru_->bias_ih, gru_->bias_hh}, known};
  return {cell_, {lstm_->weight_ih, lstm_->weight_hh, lstm_->bias_ih, lstm_->bias_hh}, known};
}

void check_row(const std::string& what, const Tensor& x, const DecoderState& state, int64_t width) {
  const auto& source = state.source_rows();
  check(x.defined() && x.dim() == 2 && x.size(0) == source.size(0) && x.size(1) == width, what, " is ", shape_of(x),
        ", expected [", source.size(0), ", ", width, "]");
  check(x.scalar_type() == source.scalar_type(), what, " is ", x.scalar_type(), ", the source is ",
        source.scalar_type(), "; convert one of them");
  check(x.device() == source.device(), what, " is on ", x.device(), ", the source on ", source.device(),
        "; move one of them");
}

void check_step(const std::string& who, const Tensor& embedded, const DecoderOptions& o, const DecoderState& state) {
  check(state.source_rows().defined(), who, ": got an empty state, expected one from start()");
  check_row(who + ": a target", embedded, state, o.embedding_dim);
  check_row(who + ": hidden", state.hidden, state, o.state_dim);
  if (o.cell == Cell::lstm) check_row(who + ": cell", state.cell, state, o.state_dim);
}

}  // namespace heed
