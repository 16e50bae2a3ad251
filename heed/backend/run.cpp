#include "heed/backend/run.h"

#include <ATen/ATen.h>

#include "heed/torch_support/recompute.h"

namespace heed::backend {
namespace {

/// What no query attends may be NaN, and its scores have gradient 0: a product of both must not be NaN.
void clear_unreached(CallRecord& r) {
  const Mask mask = r.mask();
  if (!mask.any() && r.max_keys >= r.keys) return;
  const Reach reached = reach(mask, r.whole(), r.in[kValues].device());
  r.in[kQuery] = without_unreached(r.in[kQuery], reached.rows);
  r.in[kKeys] = without_unreached(r.in[kKeys], reached.keys);
  r.in[kValues] = without_unreached(r.in[kValues], reached.values);
}

/// Scope guard: the record has these tensors. A copy of it would take longer than some backends do.
class Filled {
 public:
  Filled(CallRecord& record, const Tensors& in) : record_(record) { record_.in = in; }
  ~Filled() { record_.in.clear(); }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

 private:
  CallRecord& record_;
};

class CallNode final : public OwnBackward {
 public:
  CallNode(const Backend& backend, const CallRecord& record) : backend_(backend), record_(record) {
    record_.names = record.names.without_tensors();  // a tensor kept here could refer to this node
    record_.reach = {};
  }

  Tensors forward(const Tensors&) override {
    const at::NoGradGuard no_grad;
    auto [outputs, saved] = backend_.forward(record_, /*learns=*/true);
    record_.in.clear();  // autograd keeps the tensors, and notices in-place changes
    saved_ = std::move(saved);
    if (saved_.context.defined()) {
      // An alias: the output itself would make a reference cycle with this node.
      saved_.context = saved_.context.detach();
      version_ = saved_.context._version();
    }
    return outputs;
  }

  Tensors backward(const Tensors& in, const Tensors& grads, const std::vector<bool>& wanted) override {
    const Filled filled(record_, in);  // a node runs once at a time
    CallRecord& record = record_;
    const bool again = at::GradMode::is_enabled();
    const bool changed = saved_.context.defined() && saved_.context._version() != version_;
    if ((!again || backend_.differentiates_twice()) && !changed && backend_.differentiates(record, grads))
      return backend_.backward(record, saved_, grads, wanted);
    if (backend_.skips_unreached(record)) clear_unreached(record);
    Tensors with_heads = grads;
    if (Tensor& x = with_heads[kContext]; x.defined() && x.dim() == 3) x = x.unsqueeze(1);
    return twice_differentiable_backend().backward(record, {}, with_heads, wanted);
  }

 private:
  const Backend& backend_;
  CallRecord record_;
  SavedTensors saved_;
  int64_t version_ = 0;
};

class GraphNode final : public OwnBackward {
 public:
  GraphNode(const Backend& backend, GraphRecord record) : backend_(backend), record_(std::move(record)) {}

  Tensors forward(const Tensors&) override {
    Tensors outputs = backend_.forward_graph(record_, &saved_);
    record_.in.clear();
    for (auto& x : saved_)
      if (x.defined()) x = x.detach();
    return outputs;
  }

  Tensors backward(const Tensors& in, const Tensors& grads, const std::vector<bool>& wanted) override {
    if (at::GradMode::is_enabled()) {
      Tensors all = in;
      all.insert(all.end(), grads.begin(), grads.end());
      return gradients_of(record_.composed, wanted)(all);
    }
    GraphRecord record = record_;
    record.in = in;
    return backend_.backward_graph(record, saved_, grads, wanted);
  }

 private:
  const Backend& backend_;
  GraphRecord record_;
  Tensors saved_;
};

/// A scalar 0 that depends on all tensors, so that an empty result gives them gradients of zeros.
Tensor nothing_of(const CallRecord& r) {
  Tensor zero = at::zeros({}, r.in[kValues].options());
  const auto add = [&](const Tensor& x) {
    if (x.defined() && x.requires_grad()) zero = zero + x.flatten().narrow(0, 0, 0).sum();
  };
  for (size_t i = kSlots; i < r.in.size(); ++i) add(r.in[i]);
  for (const Slot slot : {kQuery, kKeys, kValues}) add(r.in[slot]);
  return zero;
}

Attended empty_result(const CallRecord& r) {
  const int64_t B = r.batch, H = r.heads, Lq = r.queries, Lk = r.keys, W = r.width();
  const Outputs& outputs = r.call.outputs;
  const auto options = r.in[kValues].options();
  const auto count = [](const std::vector<int64_t>& some, int64_t all) {
    return some.empty() ? all : static_cast<int64_t>(some.size());
  };
  const auto nothing = nothing_of(r);
  const auto zeros = [&](at::IntArrayRef shape) { return at::zeros(shape, options) + nothing; };
  Attended none;
  none.context = zeros({B, H, Lq, r.in[kValues].size(-1)});
  if (outputs.weights) none.weights = zeros({B, count(outputs.heads, H), count(outputs.rows, Lq), Lk, W});
  if (outputs.lse) none.lse = zeros({B, H, Lq, W}) - INFINITY;
  if (outputs.entropy) none.entropy = zeros({B, H, Lq, W});
  if (outputs.column_mass) none.column_mass = zeros({B, H, Lk, W});
  if (outputs.top > 0) none.top_weights = zeros({B, H, Lq, outputs.top, W});
  if (outputs.top > 0) none.top_keys = at::full({B, H, Lq, outputs.top, W}, -1, options.dtype(at::kLong));
  if (outputs.links.defined()) none.link_log_weights = zeros({0, W});
  if (r.offers.policy) {
    none.log_probability = zeros({B, H});
    none.selected = at::zeros({B, H, Lk}, options);
    none.selected_share = at::zeros({B, H}, options);
  } else if (r.offers.log_probability) {
    none.log_probability = zeros({B, H, Lq, W});
  }
  return none;
}

}  // namespace

Attended run(const Backend& backend, const CallRecord& record) {
  if (record.empty()) return empty_result(record);
  if (backend.recorded()) return attended_from(backend.forward(record, /*learns=*/false).outputs);
  if (!learns(record.in)) {
    const at::NoGradGuard nothing_to_record;
    return attended_from(backend.forward(record, /*learns=*/false).outputs);
  }
  return attended_from(run(c10::make_intrusive<CallNode>(backend, record), record.in));
}

Tensors run_graph(const Backend& backend, GraphRecord record) {
  if (!learns(record.in)) {
    const at::NoGradGuard nothing_to_record;
    return backend.forward_graph(record, nullptr);
  }
  const Tensors in = record.in;
  return run(c10::make_intrusive<GraphNode>(backend, std::move(record)), in);
}

}  // namespace heed::backend
