#include "heed/structures/decode/bahdanau.h"

#include "heed/structures/decode/decoder_structure.h"
#include "heed/structures/decode/forced_run.h"
#include "heed/structures/encode/cell_steps.h"

namespace heed {

BahdanauDecoderImpl::BahdanauDecoderImpl(DecoderOptions options, std::shared_ptr<SourceAttention> attention)
    : options_(std::move(options)), attention_(std::move(attention)) {
  if (options_.mechanism.empty() && options_.structure.empty()) options_.mechanism = "additive + softmax";
  reset();
}

void BahdanauDecoderImpl::reset() {
  const auto& o = options_;
  if (attention_ && glimpse_) attention_ = attention_->renewed();  // a copy has parameters of its own
  glimpse_ = register_module("glimpse", Glimpse(o, attention_));
  cell_ = register_module("cell", StepCell(o.cell, o.embedding_dim + glimpse_->width(), o.state_dim));
  const int64_t outputs = o.readout == Readout::maxout ? 2 * o.out_dim : o.out_dim;
  readout_ = register_module("readout", torch::nn::Linear(o.state_dim + o.embedding_dim + glimpse_->width(), outputs));
}

void BahdanauDecoderImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::BahdanauDecoder(" << glimpse_->to_string() << "; source " << o.source_dim << ", embedding "
         << o.embedding_dim << ", state " << o.state_dim << ", out " << o.out_dim
         << (o.context_gate ? ", context gate" : "") << ")";
}

DecoderState BahdanauDecoderImpl::start(const Features& source, const Tensor& from) {
  return glimpse_->start(source, from);
}

DecoderStep BahdanauDecoderImpl::step(const Tensor& embedded, const DecoderState& state, const Call& call) {
  const auto& o = options_;
  check_step("bahdanau_decoder", embedded, o, state);
  DecoderStep out;
  out.state = state;
  const auto context = glimpse_->look(state.hidden, out.state, call, out.attended);  // [B, source]
  cell_->forward(at::cat({embedded, context}, 1), out.state);
  ++out.state.targets;
  const auto& read = o.reads_previous_state ? state.hidden : out.state.hidden;
  out.output = read_out(at::cat({read, embedded, context}, 1));
  return out;
}

/// x [..., state + embedding + context] -> [..., out].
Tensor BahdanauDecoderImpl::read_out(const Tensor& x) {
  const auto mixed = readout_(x);
  switch (options_.readout) {
    case Readout::tanh:
      return mixed.tanh();
    case Readout::linear:
      return mixed;
    case Readout::maxout:
      return std::get<0>(mixed.unflatten(-1, {options_.out_dim, 2}).max(-1));
  }
  fail("bahdanau_decoder: got an unknown readout, expected tanh, maxout or linear");
}

/// Attention and cell run step by step; the readout runs once for all steps.
Tensor BahdanauDecoderImpl::run(ForcedRun& run) {
  auto cell = cell_->along(run.targets);
  std::vector<Tensor> read, contexts;
  for (int64_t t = 0; t < run.length(); ++t) {
    DecoderState next = run.state;
    contexts.push_back(glimpse_->look(run.state.hidden, next, run.call_at(t), run.next_step()));
    cell.step(t, contexts.back(), next.hidden, next.cell);
    ++next.targets;
    read.push_back(options_.reads_previous_state ? run.state.hidden : next.hidden);
    run.go_on(t, std::move(next));
  }
  return read_out(at::cat({at::stack(read), run.targets, at::stack(contexts)}, 2));
}

namespace {

class BahdanauStructure final : public DecoderStructure<BahdanauDecoder> {
 public:
  BahdanauStructure(const Options& spec, const StructureOptions& options)
      : DecoderStructure(options, "additive + softmax") {
    DecoderOptions o = common(spec, {"gru", "lstm"});
    const auto readout = spec.choice("readout", {"tanh", "maxout", "linear"});
    o.readout = readout == "tanh" ? Readout::tanh : readout == "maxout" ? Readout::maxout : Readout::linear;
    o.reads_previous_state = spec.flag("previous");
    hold(o);
  }
};

const Structure::Parts::Entry bahdanau_decoder_entry{
    "bahdanau_decoder",
    make_structure<BahdanauStructure>,
    {.formula = "c_i = Att(s_{i-1}, S), s_i = cell([y_{i-1}; c_i], s_{i-1}), t_i = readout([s_i; y_{i-1}; c_i])",
     .paper = "Bahdanau et al., 2015; with lstm and gate: Xu et al., 2015",
     .cost = "T steps, one after another: one query each; keys are projected once",
     .choose = "targets one after another, little data",
     .axis = "beyond",
     .variants = {"bahdanau_decoder(lstm, gate, readout=linear)", "bahdanau_decoder(maxout, previous)"},
     .synonyms = {"rnnsearch"},
     .order = 4}};

}  // namespace
}  // namespace heed
