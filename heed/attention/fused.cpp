// The fused path. The parts compute the arguments of a kernel (tiled()); this file passes them as pointers and strides.
// The gradients that a kernel returns are propagated through the parts' operations by autograd.

#include "heed/attention/fused.h"

#include <algorithm>

#include <torch/csrc/autograd/autograd.h>

#include "heed/attention/slots.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/multi/attend.h"
#include "heed/torch_support/parallel.h"
#include "heed/torch_support/recompute.h"

namespace heed {
namespace {

namespace cpu = kernels::cpu;

/// Kernel arguments of the parts, computed from the slots.
struct Tiled {
  TiledScore score;  // to_scores expanded to [H, ...]
  TiledAlignment align;
  Tensor values, kernel_keys;
};

std::vector<int64_t> with_heads(const Tensor& x, int64_t heads) {
  auto shape = x.sizes().vec();
  shape.insert(shape.begin(), heads);
  return shape;
}

Tiled tiled(const Work& work, const Tensors& in) {
  const auto& [mechanism, names, call] = work;
  const Parameters p = names.with_values(in, kSlots);
  const int64_t Lq = in[kQuery].size(2), Lk = in[kKeys].size(2);
  Scored rows;
  rows.query = in[kAlignQuery];
  rows.keys = in[kAlignKeys];
  rows.draw.sample = call.noise.sample;
  if (mechanism.align().positional()) {
    const auto index = in[kValues].options();
    const int64_t first = first_position(call.mask, {0, 0, Lq, Lk});
    rows.key_count = in[kReachCount].to(index);
    rows.query_index = at::arange(first, first + Lq, index).view({-1, 1, 1});
    rows.key_index = at::arange(Lk, index).view({-1, 1});
  }
  Tiled t;
  t.score = mechanism.score().tiled(p.of("score"), in[kQuery], in[kKeys]);
  t.align = mechanism.align().tiled(p.of("align"), rows);
  // A kernel expects as many heads of keys as of values.
  const int64_t heads = std::max(t.score.keys.defined() ? t.score.keys.size(1) : 1, in[kValues].size(1));
  t.score.keys = repeat_heads(t.score.keys, heads);
  t.kernel_keys = repeat_heads(in[kKernelKeys], heads);
  t.values = repeat_heads(in[kValues], heads);
  Tensor& w = t.score.to_scores;
  const bool single = mechanism.dimensionality() == Dimensionality::single;
  if (w.defined() && w.dim() == (single ? 1 : 2)) w = w.unsqueeze(0).expand(with_heads(w, in[kQuery].size(1)));
  return t;
}

/// The same in the memory layout of kernels: features contiguous, small tensors contiguous as a whole.
struct Read {
  Tensor query, keys, values, kernel_keys, to_scores, position, center, key_count;
  Tensor keep, full, per_key, relative, alibi;
};

Tensor dense(const Tensor& x) {
  return x.defined() ? x.detach().contiguous() : x;
}
Tensor in_rows(const Tensor& x) {
  if (!x.defined()) return x;
  return x.stride(-1) == 1 || x.size(-1) == 1 ? x.detach() : x.detach().contiguous();
}

/// int64 [B]: number of keys; the keys after them are masked or cannot be scored.
Tensor key_count(const Work& work, const Tensors& in) {
  const int64_t max = work.mechanism.score().max_keys();
  const auto& given = in[kMaskCount];
  if (max >= in[kKeys].size(2)) return dense(given);
  if (given.defined()) return given.clamp_max(max).contiguous();
  return at::full({in[kKeys].size(0)}, max, in[kKeys].options().dtype(at::kLong));
}

Read read_of(const Work& work, const Tiled& t, const Tensors& in) {
  const int64_t B = in[kQuery].size(0), H = in[kQuery].size(1), Lq = in[kQuery].size(2);
  Read r;
  r.query = in_rows(t.score.query);
  r.keys = in_rows(t.score.keys);
  r.values = in_rows(t.values);
  r.kernel_keys = in_rows(t.kernel_keys);
  if (t.score.to_scores.defined()) {
    const auto w = t.score.to_scores.detach();
    r.to_scores = (w.stride(0) == 0 ? w.narrow(0, 0, 1) : w).contiguous();
  }
  r.position = dense(t.align.position);
  if (t.align.center.defined()) r.center = t.align.center.expand({B, H, Lq}).contiguous();
  r.key_count = key_count(work, in);
  r.keep = in[kKeep];
  r.full = in[kFull];
  if (in[kPerKey].defined()) r.per_key = in[kPerKey].unsqueeze(2);
  r.relative = dense(in[kRelative]);
  r.alibi = dense(in[kAlibi]);
  return r;
}

template <typename T>
T* pointer(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}
template <typename T>
cpu::Rows<T> rows_of(const Tensor& x) {  // [B, H, L, D]
  return x.defined() ? cpu::Rows<T>{pointer<T>(x), x.stride(0), x.stride(1), x.stride(2)} : cpu::Rows<T>{};
}
/// x [B|1, H|1, Lq|1, Lk|1]; axes of size 1 broadcast.
template <typename T>
cpu::Grid<T> grid_of(const Tensor& x) {
  if (!x.defined()) return {};
  const auto stride = [&](int64_t axis) { return x.size(axis) == 1 ? 0 : x.stride(axis); };
  return {pointer<T>(x), stride(0), stride(1), stride(2), stride(3)};
}

/// Fills the fields that single-dimensional and multi-dimensional problems share.
template <typename Real, class Problem>
void hand_over(const Work& work, const Tiled& t, const Read& r, Problem& p) {
  const Call& call = work.call;
  const auto real = [](double x) { return static_cast<Real>(x); };
  p.batch = r.query.size(0);
  p.heads = r.query.size(1);
  p.key_heads = r.values.size(1);
  p.queries = r.query.size(2);
  p.keys = r.values.size(2);
  p.width = r.query.size(3);
  p.activation = t.score.activation;
  p.query = rows_of<const Real>(r.query);
  p.key_rows = rows_of<const Real>(r.keys);
  p.values = rows_of<const Real>(r.values);
  p.to_scores = pointer<const Real>(r.to_scores);
  if (r.to_scores.defined() && r.to_scores.size(0) > 1) p.to_scores_head = r.to_scores.stride(0);
  p.scale = real(call.scale * t.score.scale);
  p.soft_cap = real(call.soft_cap);

  p.mask.keep = grid_of<const uint8_t>(r.keep);
  p.mask.key_count = pointer<const int64_t>(r.key_count);
  p.mask.first_position = first_position(call.mask, {0, 0, p.queries, p.keys});
  p.mask.causal = call.mask.causal != Causal::none;
  p.mask.left = call.mask.left;
  p.mask.right = call.mask.right;
  p.mask.center = pointer<const int64_t>(r.center);
  p.mask.reach = t.align.reach;

  p.bias.full = grid_of<const Real>(r.full);
  p.bias.per_key = grid_of<const Real>(r.per_key);
  p.bias.relative = pointer<const Real>(r.relative);
  if (r.relative.defined()) {
    p.bias.relative_reach = r.relative.size(1) / 2;
    p.bias.relative_head = r.relative.size(0) == 1 ? 0 : r.relative.size(1);
  }
  p.bias.alibi = pointer<const Real>(r.alibi);

  p.dropout = real(call.noise.dropout);
  p.seed = call.noise.seed;
  p.stream = call.noise.stream;
  p.first_row = call.noise.first_row;
  p.first_query = call.mask.first_query;
}

/// Buffers for the gradients with respect to the inputs of a kernel; undefined: not requested.
struct InputGradients {
  Tensor query, keys, values, to_scores, position;
  Tensor full, per_key, relative, alibi;
  bool any() const {
    for (const auto& x : {query, keys, values, to_scores, position, full, per_key, relative, alibi})
      if (x.defined()) return true;
    return false;
  }
};

template <typename Real, class Gradients>
void hand_over(const Tensors& given, const InputGradients& s, Gradients& g) {
  g.context = pointer<const Real>(given[kContext]);
  g.lse = pointer<const Real>(given[kLse]);
  g.query = pointer<Real>(s.query);
  g.keys = pointer<Real>(s.keys);
  g.values = pointer<Real>(s.values);
  g.to_scores = pointer<Real>(s.to_scores);
  g.full = grid_of<Real>(s.full);
  g.per_key = grid_of<Real>(s.per_key.defined() ? s.per_key.unsqueeze(2) : s.per_key);
  g.relative = pointer<Real>(s.relative);
  g.alibi = pointer<Real>(s.alibi);
}

/// Single-dimensional: one score for each pair.
template <typename Real>
class ForPairs {
 public:
  void forward(const Work& work, const Tiled& t, const Read& r, bool learns, Tensors& out) {
    auto p = problem(work, t, r);
    rows_.resize(static_cast<size_t>(p.batch * p.heads * p.queries));
    p.rows = rows_.data();
    p.context = pointer<Real>(out[kContext]);
    if (learns && cpu::traits(p.align).needs_second) second_ = at::empty_like(out[kContext]);
    p.second = pointer<Real>(second_);
    cpu::forward(p, on_torch_threads);
    report(work, p, out);
    if (!learns) rows_.clear();
  }

  void backward(const Work& work, const Tiled& t, const Read& r, const Tensor& context, const Tensors& given,
                const InputGradients& grads) {
    auto p = problem(work, t, r);
    p.rows = rows_.data();
    p.context = pointer<Real>(context);
    p.second = pointer<Real>(second_);
    cpu::Gradients<Real> g;
    hand_over<Real>(given, grads, g);
    g.log_probability = pointer<const Real>(given[kLogProbability]);
    g.position = pointer<Real>(grads.position);
    cpu::backward(p, g, on_torch_threads);
  }

 private:
  static cpu::Problem<Real> problem(const Work& work, const Tiled& t, const Read& r) {
    const auto real = [](double x) { return static_cast<Real>(x); };
    cpu::Problem<Real> p;
    hand_over<Real>(work, t, r, p);
    p.value_width = r.values.size(3);
    p.score = t.score.kind;
    p.exp_keys = rows_of<const Real>(r.kernel_keys);
    p.align = t.align.kind;
    p.gauss = t.align.gauss;
    p.position = pointer<const Real>(r.position);
    p.sigma = real(t.align.sigma);
    p.theta = real(t.align.theta);
    p.alpha = real(t.align.alpha);
    p.k = std::min(t.align.k, p.keys);
    p.renorm = t.align.renorm;
    p.keep_best = t.align.keep_best;
    p.perturb = t.align.perturb;
    p.temperature = real(t.align.temperature);
    const Outputs& outputs = work.call.outputs;
    const bool scored = work.mechanism.align().offers().log_probability;
    p.with_lse = scored || outputs.lse || outputs.entropy || outputs.links.defined();
    return p;
  }

  /// Computes the requested outputs, with W = 1.
  static void report(const Work& work, const cpu::Problem<Real>& p, Tensors& out) {
    const Outputs& outputs = work.call.outputs;
    const auto options = out[kContext].options();
    const auto count = [](const std::vector<int64_t>& some) { return static_cast<int64_t>(some.size()); };
    cpu::RequestedOutputs<Real> w;
    bool any = false;
    const auto buffer = [&](Out which, at::IntArrayRef shape) {
      any = true;
      out[which] = at::empty(shape, options);
      return pointer<Real>(out[which]);
    };
    if (outputs.weights) {
      w.query_count = count(outputs.rows);
      w.head_count = count(outputs.heads);
      if (w.query_count > 0) w.some_queries = outputs.rows.data();
      if (w.head_count > 0) w.some_heads = outputs.heads.data();
      w.weights = buffer(kWeights, {p.batch, w.head_count > 0 ? w.head_count : p.heads,
                                    w.query_count > 0 ? w.query_count : p.queries, p.keys, 1});
    }
    if (outputs.lse) w.lse = buffer(kLse, {p.batch, p.heads, p.queries, 1});
    if (outputs.entropy) w.entropy = buffer(kEntropy, {p.batch, p.heads, p.queries, 1});
    if (work.mechanism.align().offers().log_probability)
      w.log_probability = buffer(kLogProbability, {p.batch, p.heads, p.queries, 1});
    if (outputs.column_mass) w.column_mass = buffer(kColumnMass, {p.batch, p.heads, p.keys, 1});
    if (outputs.top > 0) {
      w.top = outputs.top;
      w.top_weights = buffer(kTopWeights, {p.batch, p.heads, p.queries, outputs.top, 1});
      out[kTopKeys] = at::empty({p.batch, p.heads, p.queries, outputs.top, 1}, options.dtype(at::kLong));
      w.top_keys = pointer<int64_t>(out[kTopKeys]);
    }
    const Tensor links = dense(outputs.links);
    if (links.defined()) {
      w.link_count = links.size(0);
      w.links = pointer<const int64_t>(links);
      w.link_log_weights = buffer(kLinks, {w.link_count, 1});
    }
    if (any) cpu::report(p, w, on_torch_threads);
  }

  std::vector<cpu::RowStats<Real>> rows_;
  Tensor second_;
};

/// Multi-dimensional: a score for each channel of the values.
template <typename Real>
class ForChannels {
 public:
  void forward(const Work& work, const Tiled& t, const Read& r, bool learns, Tensors& out) {
    auto p = problem(work, t, r);
    top_ = at::empty_like(out[kContext]);
    sum_ = at::empty_like(out[kContext]);
    p.context = pointer<Real>(out[kContext]);
    p.top = pointer<Real>(top_);
    p.sum = pointer<Real>(sum_);
    if (work.call.outputs.lse) p.lse = pointer<Real>(out[kLse] = at::empty_like(out[kContext]));
    cpu::multi_forward(p, on_torch_threads);
    if (!learns) top_ = sum_ = Tensor();
  }

  void backward(const Work& work, const Tiled& t, const Read& r, const Tensor& context, const Tensors& given,
                const InputGradients& grads) {
    auto p = problem(work, t, r);
    p.context = pointer<Real>(context);
    p.top = pointer<Real>(top_);
    p.sum = pointer<Real>(sum_);
    Tensors all = given;
    if (!all[kContext].defined()) all[kContext] = at::zeros_like(context);
    cpu::MultiGradients<Real> g;
    hand_over<Real>(all, grads, g);
    cpu::multi_backward(p, g, on_torch_threads);
  }

 private:
  static cpu::MultiProblem<Real> problem(const Work& work, const Tiled& t, const Read& r) {
    cpu::MultiProblem<Real> p;
    hand_over<Real>(work, t, r, p);
    p.channels = r.values.size(3);
    return p;
  }

  Tensor top_, sum_;
};

/// A call as an autograd node; Kernels is one of the two above.
template <class Kernels>
class Fused final : public OwnBackward {
 public:
  Fused(Work work, bool learns) : work_(std::move(work)), learns_(learns) {}

  Tensors forward(const Tensors& in) override {
    const at::NoGradGuard no_grad;
    const Tiled t = tiled(work_, in);
    Tensors out(kOuts);
    out[kContext] =
        at::empty({in[kQuery].size(0), in[kQuery].size(1), in[kQuery].size(2), t.values.size(3)}, t.values.options());
    kernels_.forward(work_, t, read_of(work_, t, in), learns_, out);
    if (learns_) {  // an alias: the output itself would make a reference cycle with this node
      context_ = out[kContext].detach();
      version_ = context_._version();
    }
    return out;
  }

  Tensors backward(const Tensors& in, const Tensors& given, const std::vector<bool>& wanted) override {
    const bool again = at::GradMode::is_enabled();         // a kernel has no second derivative
    const bool changed = context_._version() != version_;  // in place, by the caller
    bool others = false;
    for (const Out out : {kWeights, kEntropy, kColumnMass, kTopWeights, kLinks})
      others = others || given[out].defined();
    return again || changed || others ? composed(in, given, wanted) : by_kernel(in, given, wanted);
  }

 private:
  Tensors composed(const Tensors& in, const Tensors& given, const std::vector<bool>& wanted) const {
    const Step step = [work = work_](const Tensors& slots) {
      const Prepared prepared = prepared_from(slots);
      Call call = call_from(work.call, slots);
      call.path = Path::composed;
      const Parameters p = work.parameters.with_values(slots, kSlots);
      const Plan plan = plan_blocks(work.mechanism, call, prepared.query.sizes(), prepared.keys, p.sizes(),
                                    prepared.keys.size(2), prepared.query.element_size());
      return outs_of(run_blocks(prepared, work.mechanism, p, call, plan));
    };
    Tensors all = in;
    all.insert(all.end(), given.begin(), given.end());
    return gradients_of(step, wanted)(all);
  }

  Tensors by_kernel(const Tensors& in, const Tensors& given, const std::vector<bool>& wanted) {
    Tensors own = in, gradients_in(given.size()), result(in.size());
    for (size_t i = 0; i < given.size(); ++i) gradients_in[i] = dense(given[i]);
    for (size_t i = 0; i < in.size(); ++i)  // a separate alias for each slot, as in gradients_of()
      if (in[i].defined() && at::isFloatingType(in[i].scalar_type())) own[i] = in[i].detach().requires_grad_(wanted[i]);
    Tiled t;
    {
      const at::AutoGradMode on(true);
      t = tiled(work_, own);
    }
    const bool drawn = cpu::traits(t.align.kind).scores_need_log_probability && !given[kLogProbability].defined();
    const InputGradients grads = requested_gradients(t, own, !t.align.constant && !drawn);
    if (!grads.any()) return result;
    kernels_.backward(work_, t, read_of(work_, t, own), context_, gradients_in, grads);
    result[kFull] = grads.full;
    result[kPerKey] = grads.per_key;
    result[kRelative] = grads.relative;
    result[kAlibi] = grads.alibi;
    carry_on({t.score.query, t.score.keys, t.values, t.score.to_scores, t.align.position},
             {grads.query, grads.keys, grads.values, grads.to_scores, grads.position}, own, wanted, result);
    return result;
  }

  /// Buffers for the gradients that are needed.
  static InputGradients requested_gradients(const Tiled& t, const Tensors& own, bool by_scores) {
    const auto buffer = [](const Tensor& x) {
      return x.defined() && x.requires_grad() ? at::empty(x.sizes(), x.options()) : Tensor();
    };
    const auto sum = [&](const Tensor& x) {  // zeros, for a kernel that accumulates
      const Tensor found = buffer(x);
      return found.defined() ? found.zero_() : found;
    };
    InputGradients s;
    s.values = buffer(t.values);
    if (!by_scores) return s;
    s.query = buffer(t.score.query);
    s.keys = buffer(t.score.keys);
    s.to_scores = buffer(t.score.to_scores);
    s.position = buffer(t.align.position);
    s.full = sum(own[kFull]);
    s.per_key = sum(own[kPerKey]);
    s.relative = buffer(own[kRelative]);
    s.alibi = buffer(own[kAlibi]);
    return s;
  }

  /// Propagates gradients from the inputs of a kernel to the slots that they were computed from.
  static void carry_on(const Tensors& read, const Tensors& grads, const Tensors& own, const std::vector<bool>& wanted,
                       Tensors& result) {
    Tensors from, by, to;
    std::vector<size_t> slots;
    for (size_t i = 0; i < own.size(); ++i) {
      if (!wanted[i] || i == kFull || i == kPerKey || i == kRelative || i == kAlibi) continue;
      slots.push_back(i);
      to.push_back(own[i]);
    }
    for (size_t i = 0; i < read.size(); ++i) {
      if (!grads[i].defined()) continue;
      const auto slot = std::find_if(own.begin(), own.end(), [&](const Tensor& x) { return x.is_same(read[i]); });
      if (slot != own.end()) {  // the slot itself
        result[static_cast<size_t>(slot - own.begin())] = grads[i];
      } else {
        from.push_back(read[i]);
        by.push_back(grads[i]);
      }
    }
    if (from.empty()) return;
    const auto found = torch::autograd::grad(from, to, by, /*retain_graph=*/false, /*create_graph=*/false,
                                             /*allow_unused=*/true);
    for (size_t i = 0; i < slots.size(); ++i) {
      Tensor& sum = result[slots[i]];
      if (found[i].defined()) sum = sum.defined() ? sum + found[i] : found[i];
    }
  }

  Work work_;
  bool learns_;
  Kernels kernels_;
  Tensor context_;
  int64_t version_ = 0;
};

template <template <typename> class Kernels>
Tensors run_on(const Work& work, const Tensors& in) {
  const bool backward = learns(in);
  if (in[kQuery].scalar_type() == at::kDouble)
    return run(c10::make_intrusive<Fused<Kernels<double>>>(work, backward), in);
  return run(c10::make_intrusive<Fused<Kernels<float>>>(work, backward), in);
}

}  // namespace

std::string no_kernel(const Mechanism& mechanism, const Call& call, const Tensor& like) {
  const auto d = mechanism.dimensionality();
  const Kernel score = mechanism.score().kernel(d), align = mechanism.align().kernel(d);
  if (score.name.empty()) return mechanism.score_name() + ": " + score.missing;
  if (align.name.empty()) return mechanism.align_name() + ": " + align.missing;
  if (!like.device().is_cpu()) return "the kernels run on the CPU, the query is on " + like.device().str();
  if (call.noise.uniforms.defined())
    return "the kernels draw their own random numbers, and the call has noise.uniforms";
  const Outputs& outputs = call.outputs;
  const bool more =
      outputs.weights || outputs.entropy || outputs.column_mass || outputs.top > 0 || outputs.links.defined();
  if (d != Dimensionality::single && more)
    return "multi-dimensional kernels return context and lse, and other outputs are requested";
  return "";
}

std::string kernel_name(const Mechanism& mechanism, at::ScalarType type) {
  const auto d = mechanism.dimensionality();
  return (type == at::kDouble ? "portable" : cpu::instruction_set()) + ": " + mechanism.score().kernel(d).name + " x " +
         mechanism.align().kernel(d).name;
}

Attended run_fused(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                   const Call& call) {
  const Tensors in = slots_of(prepared, parameters, call);
  const Work work = without_tensors(mechanism, parameters, call);
  const bool single = mechanism.dimensionality() == Dimensionality::single;
  return attended_from(single ? run_on<ForPairs>(work, in) : run_on<ForChannels>(work, in));
}

}  // namespace heed
