#include "heed/backend/cpu_graph.h"

#include "heed/backend/kernel_tensors.h"
#include "heed/kernels/cpu/graph/attend.h"
#include "heed/torch_support/parallel.h"

namespace heed::backend::cpu_graph {
namespace {

namespace kernel = kernels::cpu::graph;
using kernel_tensors::dense;
using kernel_tensors::pointer;

Tensor buffer(bool wanted, const Tensor& like) {
  return wanted && like.defined() ? at::empty_like(like, at::MemoryFormat::Contiguous) : Tensor();
}

/// Calls f(float{}) or f(double{}) by the type of x.
template <class F>
void by_type(const Tensor& x, const F& f) {
  if (x.scalar_type() == at::kDouble) return f(double{});
  f(float{});
}

/// Contiguous inputs of a score.
struct ScoreInputs {
  Tensor receiver, sender, to_scores;
  double negative_slope;

  explicit ScoreInputs(const GraphRecord& r)
      : receiver(dense(r.in[0])), sender(dense(r.in[1])), to_scores(dense(r.in[2])), negative_slope(r.negative_slope) {}
  template <typename Real>
  kernel::Score<Real> as() const {
    return {pointer<const Real>(receiver),
            pointer<const Real>(sender),
            pointer<const Real>(to_scores),
            receiver.size(1),
            to_scores.defined() ? receiver.size(2) : 1,
            static_cast<Real>(negative_slope)};
  }
};
template <typename Real>
kernel::Values<Real> values_of(const Tensor& x) {
  return {pointer<const Real>(x), x.size(1), x.size(2)};
}
template <typename Real>
kernel::ScoreGradients<Real> gradients_to(const Tensors& result) {
  return {pointer<Real>(result[0]), pointer<Real>(result[1]), pointer<Real>(result[2])};
}

Tensors scores(const GraphRecord& r) {
  const ScoreInputs in(r);
  const auto scores = at::empty({r.edges->size(), r.in[0].size(1)}, r.in[0].options());
  by_type(scores, [&]<typename Real>(Real) {
    kernel::score(*r.edges, in.as<Real>(), pointer<Real>(scores), on_torch_threads);
  });
  return {scores};
}

Tensors scores_backward(const GraphRecord& r, const Tensors& grads, const std::vector<bool>& wanted) {
  const ScoreInputs in(r);
  const Tensors result{buffer(wanted[0], r.in[0]), buffer(wanted[1], r.in[1]), buffer(wanted[2], r.in[2])};
  const auto grad = dense(grads[0]);
  by_type(grad, [&]<typename Real>(Real) {
    kernel::score_backward(*r.edges, in.as<Real>(), pointer<const Real>(grad), gradients_to<Real>(result),
                           on_torch_threads);
  });
  return result;
}

Tensors sum(const GraphRecord& r) {
  const auto weights = dense(r.in[0]), values = dense(r.in[1]);
  const auto context = at::empty_like(values);
  by_type(context, [&]<typename Real>(Real) {
    kernel::sum(*r.edges, pointer<const Real>(weights), values_of<Real>(values), pointer<Real>(context),
                on_torch_threads);
  });
  return {context};
}

Tensors sum_backward(const GraphRecord& r, const Tensors& grads, const std::vector<bool>& wanted) {
  const auto weights = dense(r.in[0]), values = dense(r.in[1]), grad = dense(grads[0]);
  const Tensors result{buffer(wanted[0], weights), buffer(wanted[1], values)};
  by_type(grad, [&]<typename Real>(Real) {
    kernel::sum_backward(*r.edges, pointer<const Real>(weights), values_of<Real>(values), pointer<const Real>(grad),
                         pointer<Real>(result[0]), pointer<Real>(result[1]), on_torch_threads);
  });
  return result;
}

/// saved: the weights; null: no gradient follows.
Tensors attend(const GraphRecord& r, Tensors* saved) {
  const ScoreInputs in(r);
  const auto values = dense(r.in[3]), factor = dense(r.in[4]);
  const auto context = at::empty_like(values);
  Tensor weights;
  if (r.weights || saved != nullptr) weights = at::empty({r.edges->size(), values.size(1)}, values.options());
  by_type(context, [&]<typename Real>(Real) {
    kernel::attend(*r.edges, in.as<Real>(), values_of<Real>(values), pointer<const Real>(factor),
                   pointer<Real>(weights), pointer<Real>(context), on_torch_threads);
  });
  if (saved != nullptr) *saved = {weights};
  return {context, r.weights ? weights : Tensor()};
}

Tensors attend_backward(const GraphRecord& r, const Tensors& saved, const Tensors& grads,
                        const std::vector<bool>& wanted) {
  const ScoreInputs in(r);
  const auto values = dense(r.in[3]), factor = dense(r.in[4]), by_weights = dense(grads[1]);
  const auto by_context = grads[0].defined() ? dense(grads[0]) : at::zeros_like(values);
  const Tensors result{buffer(wanted[0], r.in[0]), buffer(wanted[1], r.in[1]), buffer(wanted[2], r.in[2]),
                       buffer(wanted[3], r.in[3]), Tensor()};
  by_type(values, [&]<typename Real>(Real) {
    kernel::attend_backward(*r.edges, in.as<Real>(), values_of<Real>(values), pointer<const Real>(factor),
                            pointer<const Real>(saved[0]), pointer<const Real>(by_context),
                            pointer<const Real>(by_weights), gradients_to<Real>(result), pointer<Real>(result[3]),
                            on_torch_threads);
  });
  return result;
}

}  // namespace

Tensors forward(const GraphRecord& r, Tensors* saved) {
  switch (r.step) {
    case GraphStep::scores:
      return scores(r);
    case GraphStep::sum:
      return sum(r);
    case GraphStep::attend:
      return attend(r, saved);
  }
  fail("backend/cpu: not a step over a graph");
}

Tensors backward(const GraphRecord& r, const Tensors& saved, const Tensors& grads, const std::vector<bool>& wanted) {
  switch (r.step) {
    case GraphStep::scores:
      return scores_backward(r, grads, wanted);
    case GraphStep::sum:
      return sum_backward(r, grads, wanted);
    case GraphStep::attend:
      return attend_backward(r, saved, grads, wanted);
  }
  fail("backend/cpu: not a step over a graph");
}

}  // namespace heed::backend::cpu_graph
