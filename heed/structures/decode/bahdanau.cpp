#include "heed/structures/decode/bahdanau.h"

#include "heed/structures/decode/decoder_structure.h"

namespace heed {

BahdanauDecoderImpl::BahdanauDecoderImpl(DecoderOptions options) : options_(std::move(options)) {
  if (options_.mechanism.empty()) options_.mechanism = "additive + softmax";
  reset();
}

void BahdanauDecoderImpl::reset() {
  const auto& o = options_;
  glimpse_ = register_module("glimpse", Glimpse(o));
  cell_ = register_module("cell", StepCell(o.cell, o.embedding + o.source, o.state));
  const int64_t outputs = o.readout == Readout::maxout ? 2 * o.out : o.out;
  readout_ = register_module("readout", torch::nn::Linear(o.state + o.embedding + o.source, outputs));
}

void BahdanauDecoderImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::BahdanauDecoder(" << o.mechanism << "; source " << o.source << ", embedding " << o.embedding
         << ", state " << o.state << ", out " << o.out << (o.context_gate ? ", context gate" : "") << ")";
}

DecoderState BahdanauDecoderImpl::start(const Features& source, const Tensor& from) {
  return glimpse_->start(source, from);
}

Stepped BahdanauDecoderImpl::step(const Tensor& embedded, const DecoderState& state, const Call& call) {
  const auto& o = options_;
  check_step("bahdanau_decoder", embedded, o, state);
  Stepped out;
  out.state = state;
  const auto context = glimpse_->look(state.hidden, out.state, call, out.attended);  // [B, source]
  cell_->forward(at::cat({embedded, context}, 1), out.state);
  ++out.state.targets;
  const auto& read = o.reads_previous_state ? state.hidden : out.state.hidden;
  const auto mixed = readout_(at::cat({read, embedded, context}, 1));
  switch (o.readout) {
    case Readout::tanh:
      out.output = mixed.tanh();
      break;
    case Readout::linear:
      out.output = mixed;
      break;
    case Readout::maxout:
      out.output = std::get<0>(mixed.view({mixed.size(0), o.out, 2}).max(2));
      break;
  }
  return out;
}

namespace {

class BahdanauStructure final : public DecoderStructure<BahdanauDecoder> {
 public:
  BahdanauStructure(const Options& words, const StructureOptions& options)
      : DecoderStructure(options, "additive + softmax") {
    DecoderOptions o = common(words, {"gru", "lstm"});
    const auto readout = words.choice("readout", {"tanh", "maxout", "linear"});
    o.readout = readout == "tanh" ? Readout::tanh : readout == "maxout" ? Readout::maxout : Readout::linear;
    o.reads_previous_state = words.flag("previous");
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
     .variants = {"bahdanau_decoder(lstm, gate, readout=linear)", "bahdanau_decoder(maxout, previous)"}}};

}  // namespace
}  // namespace heed
