// What computes a call: kernels for a device, or torch operations. Backends enter a catalogue, as parts do:
//
//   const Catalogue<Backend>::Entry cpu_entry{"cpu", make_part<Backend, Cpu>, {...}};

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/backend/graph_record.h"
#include "heed/backend/record.h"
#include "heed/base/catalogue.h"

namespace heed::backend {

/// What must be in a record before forward().
enum class Reads {
  given,     // query, keys and values as the caller gave them
  prepared,  // query and keys prepared by score and alignment
  tiles,     // also tile_*, to_scores, center, position, alpha: what kernels compute from
};

/// What forward() keeps for backward(). `context` is that of the result: if the caller changes it in place, backward()
/// is not called, and the gradients are computed by the backend that differentiates twice.
struct SavedTensors {
  Tensor context{};
  Tensors others{};
};

struct ForwardResult {
  Tensors outputs = Tensors(kOutputs);
  SavedTensors saved{};
};

class Backend {
 public:
  static constexpr auto kKind = "backend";
  virtual ~Backend() = default;

  /// The path that its calls report.
  virtual Path path() const = 0;
  virtual Reads reads() const { return Reads::tiles; }
  /// Whether it is for tensors of this device. Of several fused backends, plans name only those that are.
  virtual bool runs_on(const at::Device&) const { return true; }

  /// Empty if the call is supported, otherwise the reason that why() shows.
  virtual std::string why_not(const CallRecord& record) const = 0;
  /// Of the backends that support a call, the one with the highest priority runs it; composed has 0. A negative one
  /// runs only if the call requests its path, for the reason on_request().
  virtual int priority(const CallRecord& record) const = 0;
  virtual std::string on_request(const CallRecord&) const { return "only on request"; }
  /// Sets the kernel, the block sizes and the workspace of a plan.
  virtual void describe(const CallRecord& record, Plan& plan) const = 0;

  /// Whether forward() and backward() never read a key or value that no query may attend, nor a query without keys, and
  /// give them a gradient of 0. A call whose score prepares nothing then leaves NaN in padding as it is.
  virtual bool skips_unreached(const CallRecord&) const { return false; }

  /// Whether forward() gives 0 to a query without keys, whatever numbers it has.
  virtual bool skips_rows_without_keys(const CallRecord&) const { return false; }

  /// What a memory keeps next to its prepared keys, computed once for many queries: the slot packed_keys of its calls.
  /// Without a gradient; undefined: nothing.
  virtual Tensor pack(const CallRecord&) const { return {}; }

  /// Context and requested outputs; the context may lack the head axis if the record does: taking it away later would
  /// be one more node of autograd. learns: backward() may follow. Runs with grad mode off, unless recorded().
  virtual ForwardResult forward(const CallRecord& record, bool learns) const = 0;
  /// Gradients with respect to record.in, by Slot; undefined: 0. `grads` are those of the outputs, undefined: 0; only
  /// gradients of `wanted` tensors are needed.
  virtual Tensors backward(const CallRecord& record, const SavedTensors& saved, const Tensors& grads,
                           const std::vector<bool>& wanted) const = 0;
  /// Whether it has an engine for the call on half types, whose record in float this is.
  virtual bool has_half_engine(const CallRecord&, bool /*learns*/) const { return false; }
  /// The context of that call, with a graph; the record has no tensors with numbers.
  virtual Tensor attend_half(const CallRecord&, const Tensor& /*query*/, const Tensor& /*keys*/,
                             const Tensor& /*values*/) const {
    return {};
  }

  /// Whether backward() has the gradients of these outputs.
  virtual bool differentiates(const CallRecord&, const Tensors& /*grads*/) const { return true; }
  /// Whether backward() may run with grad mode on, for second derivatives. It then reads prepared tensors only.
  virtual bool differentiates_twice() const { return false; }
  /// Whether autograd records the operations of forward(); backward() is then not called.
  virtual bool recorded() const { return false; }

  /// Attention over the edges of a graph; the same contract. Empty reason: supported.
  virtual std::string why_not_graph(const GraphRecord&) const { return "it has no kernels for graphs"; }
  virtual Tensors forward_graph(const GraphRecord& record, Tensors* saved) const;  // saved: null if nothing learns
  virtual Tensors backward_graph(const GraphRecord& record, const Tensors& saved, const Tensors& grads,
                                 const std::vector<bool>& wanted) const;
};

/// For why_not(): the reason if the caller gave a tensor that is not in `read`, or "". A backend that does not know a
/// new input tensor refuses it this way instead of ignoring it.
std::string why_not_read(const CallRecord& record, std::initializer_list<Slot> read);

/// One object of each entry of the catalogue, in the order of their names; made at the first call.
const std::vector<std::shared_ptr<const Backend>>& backends();

/// The backend whose backward() can be differentiated again: composed.
const Backend& twice_differentiable_backend();

}  // namespace heed::backend
