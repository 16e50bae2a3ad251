#include "heed/attention/slots.h"

namespace heed {

Work without_tensors(const Mechanism& mechanism, const Parameters& parameters, const Call& call) {
  Work work{mechanism, parameters.with_values(Tensors(parameters.size()), 0), call};
  work.call.mask.keep.reset();
  work.call.mask.key_count.reset();
  work.call.bias = Bias{};
  work.call.noise.uniforms.reset();
  return work;
}

Tensors slots_of(const Prepared& prepared, const Parameters& parameters, const Call& call) {
  Tensors in(kSlots);
  in[kQuery] = prepared.query;
  in[kKeys] = prepared.keys;
  in[kAlignQuery] = prepared.align_query;
  in[kAlignKeys] = prepared.align_keys;
  in[kValues] = prepared.values;
  in[kKeep] = call.mask.keep;
  in[kMaskCount] = call.mask.key_count;
  in[kReachCount] = prepared.reach.key_count;
  in[kFull] = call.bias.full;
  in[kPerKey] = call.bias.per_key;
  in[kRelative] = call.bias.relative;
  in[kAlibi] = call.bias.alibi;
  in[kUniforms] = call.noise.uniforms;
  in[kKernelKeys] = prepared.kernel_keys;
  const auto values = parameters.values();
  in.insert(in.end(), values.begin(), values.end());
  return in;
}

Prepared prepared_from(const Tensors& in) {
  Prepared prepared;
  prepared.query = in[kQuery];
  prepared.keys = in[kKeys];
  prepared.align_query = in[kAlignQuery];
  prepared.align_keys = in[kAlignKeys];
  prepared.values = in[kValues];
  prepared.kernel_keys = in[kKernelKeys];
  prepared.reach.key_count = in[kReachCount];
  return prepared;
}

Mask mask_from(const Mask& mask, const Tensors& in) {
  Mask filled = mask;
  filled.keep = in[kKeep];
  filled.key_count = in[kMaskCount];
  return filled;
}

Call call_from(const Call& call, const Tensors& in) {
  Call filled = call;
  filled.mask = mask_from(call.mask, in);
  filled.bias = {in[kFull], in[kPerKey], in[kRelative], in[kAlibi]};
  filled.noise.uniforms = in[kUniforms];
  return filled;
}

Tensors outs_of(const Attended& a) {
  Tensors out(kOuts);
  out[kContext] = a.context;
  out[kWeights] = a.weights;
  out[kLse] = a.lse;
  out[kEntropy] = a.entropy;
  out[kColumnMass] = a.column_mass;
  out[kTopWeights] = a.top_weights;
  out[kTopKeys] = a.top_keys;
  out[kLinks] = a.link_log_weights;
  out[kLogProbability] = a.log_probability;
  return out;
}

Attended attended_from(const Tensors& out) {
  Attended a;
  a.context = out[kContext];
  a.weights = out[kWeights];
  a.lse = out[kLse];
  a.entropy = out[kEntropy];
  a.column_mass = out[kColumnMass];
  a.top_weights = out[kTopWeights];
  a.top_keys = out[kTopKeys];
  a.link_log_weights = out[kLinks];
  a.log_probability = out[kLogProbability];
  return a;
}

}  // namespace heed
