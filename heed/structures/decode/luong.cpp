#include "heed/structures/decode/luong.h"

#include "heed/structures/decode/decoder_structure.h"
#include "heed/structures/decode/forced_run.h"
#include "heed/structures/encode/cell_steps.h"

namespace heed {

LuongDecoderImpl::LuongDecoderImpl(DecoderOptions options, std::shared_ptr<SourceAttention> attention)
    : options_(std::move(options)), attention_(std::move(attention)) {
  if (options_.mechanism.empty() && options_.structure.empty()) options_.mechanism = "general + softmax";
  reset();
}

void LuongDecoderImpl::reset() {
  const auto& o = options_;
  if (attention_ && glimpse_) attention_ = attention_->renewed();  // a copy has parameters of its own
  glimpse_ = register_module("glimpse", Glimpse(o, attention_));
  cell_ = register_module("cell", StepCell(o.cell, o.embedding_dim + (o.input_feeding ? o.out_dim : 0), o.state_dim));
  mix_ = register_module(
      "mix", torch::nn::Linear(torch::nn::LinearOptions(glimpse_->width() + o.state_dim, o.out_dim).bias(false)));
}

void LuongDecoderImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::LuongDecoder(" << glimpse_->to_string() << "; source " << o.source_dim << ", embedding "
         << o.embedding_dim << ", state " << o.state_dim << ", out " << o.out_dim
         << (o.input_feeding ? ", input feeding" : "") << (o.context_gate ? ", context gate" : "") << ")";
}

DecoderState LuongDecoderImpl::start(const Features& source, const Tensor& from) {
  DecoderState state = glimpse_->start(source, from);
  if (options_.input_feeding) state.fed = at::zeros({source.batch(), options_.out_dim}, source.rows.options());
  return state;
}

DecoderStep LuongDecoderImpl::step(const Tensor& embedded, const DecoderState& state, const Call& call) {
  const auto& o = options_;
  check_step("luong_decoder", embedded, o, state);
  if (o.input_feeding) check_row("luong_decoder: fed", state.fed, state, o.out_dim);
  DecoderStep out;
  out.state = state;
  cell_->forward(o.input_feeding ? at::cat({embedded, state.fed}, 1) : embedded, out.state);
  const auto& h = out.state.hidden;
  const auto context = glimpse_->look(h, out.state, call, out.attended);  // [B, source]
  out.output = mix_(at::cat({context, h}, 1)).tanh();
  if (o.input_feeding) out.state.fed = out.output;
  ++out.state.targets;
  return out;
}

/// With input feeding a step depends on the previous output; without it, only on the state.
Tensor LuongDecoderImpl::run(ForcedRun& run) {
  const bool feeding = options_.input_feeding;
  auto cell = cell_->along(run.targets);
  CollectedProduct mix(mix_->weight);
  std::vector<Tensor> mixed;  // [c; h], or the outputs with input feeding
  for (int64_t t = 0; t < run.length(); ++t) {
    DecoderState next = run.state;
    cell.step(t, run.state.fed, next.hidden, next.cell);
    const auto context = glimpse_->look(next.hidden, next, run.call_at(t), run.next_step());
    mixed.push_back(at::cat({context, next.hidden}, 1));
    if (feeding) next.fed = mixed.back() = mix(mixed.back()).tanh();
    ++next.targets;
    run.go_on(t, std::move(next));
  }
  return feeding ? at::stack(mixed) : mix_(at::stack(mixed)).tanh();
}

namespace {

class LuongStructure final : public DecoderStructure<LuongDecoder> {
 public:
  LuongStructure(const Options& spec, const StructureOptions& options)
      : DecoderStructure(options, "general + softmax") {
    DecoderOptions o = common(spec, {"lstm", "gru"});
    o.input_feeding = spec.flag("feeding", true);
    hold(o);
  }
};

const Structure::Parts::Entry luong_decoder_entry{
    "luong_decoder",
    make_structure<LuongStructure>,
    {.formula = "h_t = cell([y_{t-1}; h~_{t-1}], h_{t-1}), c_t = Att(h_t, S), h~_t = tanh(W_c [c_t; h_t])",
     .paper = "Luong et al., 2015",
     .cost = "T steps, one after another: one query each; keys are projected once",
     .choose = "as bahdanau_decoder, with local attention, or where past choices should be known (input feeding)",
     .axis = "beyond",
     .variants = {"luong_decoder(gru, feeding=false)", "luong_decoder(gate)"},
     .synonyms = {"input_feeding"},
     .order = 5}};

}  // namespace
}  // namespace heed
