#include "heed/torch_support/own_backward.h"

#include <algorithm>
#include <mutex>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;

/// A node of autograd's own kind: torch::autograd::Function takes two to three times as long, which counts where a step
/// has little to do. A tensor that is an input several times has one edge.
class StepNode final : public Node {
 public:
  explicit StepNode(c10::intrusive_ptr<OwnBackward> step) : step_(std::move(step)) {}

  /// Called once, after forward: it may have written to its inputs.
  void save(const Tensors& inputs) {
    torch::autograd::edge_list edges;
    std::vector<const at::TensorImpl*> known;
    saved_.reserve(inputs.size());
    for (const auto& x : inputs) {
      if (!x.defined()) {
        slot_.push_back(-1);
        continue;
      }
      const auto found = std::find(known.begin(), known.end(), x.unsafeGetTensorImpl());
      slot_.push_back(found - known.begin());
      if (found != known.end()) continue;
      known.push_back(x.unsafeGetTensorImpl());
      saved_.emplace_back(x, /*is_output=*/false);
      edges.push_back(x.requires_grad() ? torch::autograd::impl::gradient_edge(x) : torch::autograd::Edge());
    }
    set_next_edges(std::move(edges));
  }

  Tensors apply(Tensors&& grads) override {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    TORCH_CHECK(!released_, torch::autograd::ERR_BACKWARD_TWICE);
    const AutocastState::Guard same_types(autocast_);
    Tensors some;
    some.reserve(saved_.size());
    for (const auto& x : saved_) some.push_back(x.unpack());
    Tensors inputs(slot_.size());
    std::vector<bool> wanted(slot_.size());
    for (size_t i = 0; i < slot_.size(); ++i) {
      if (slot_[i] < 0) continue;
      const auto at = static_cast<size_t>(slot_[i]);
      inputs[i] = some[at];
      wanted[i] = task_should_compute_output(at);
    }
    const Tensors found = step_->backward(inputs, grads, wanted);
    Tensors result(saved_.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (slot_[i] < 0 || !found[i].defined()) continue;
      auto& sum = result[static_cast<size_t>(slot_[i])];
      sum = sum.defined() ? sum + found[i] : found[i];
    }
    return result;
  }

  void release_variables() override {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    saved_.clear();
    released_ = true;
  }
  std::string name() const override { return "heed::OwnBackward"; }

 private:
  c10::intrusive_ptr<OwnBackward> step_;
  std::vector<SavedVariable> saved_;
  std::vector<std::ptrdiff_t> slot_;  // of each input in saved_; -1: undefined
  bool released_ = false;
  AutocastState autocast_;  // of forward, so that backward computes in the same types
};

}  // namespace

bool learns(const Tensors& inputs) {
  bool needed = false;
  for (const auto& x : inputs) needed = needed || (x.defined() && x.requires_grad());
  return needed && at::GradMode::is_enabled();
}

Tensors run(const c10::intrusive_ptr<OwnBackward>& step, const Tensors& inputs) {
  if (!learns(inputs)) return step->forward(inputs);
  const std::shared_ptr<StepNode> node(new StepNode(step), torch::autograd::deleteNode);
  Tensors outputs;
  {
    const at::NoGradGuard no_grad;
    outputs = step->forward(inputs);
  }
  node->save(inputs);
  at::Tensor none;
  for (auto& x : outputs) {
    const bool learned = x.defined() && at::isFloatingType(x.scalar_type());
    if (learned && std::any_of(inputs.begin(), inputs.end(), [&](const auto& in) { return in.is_same(x); }))
      x = x.detach();  // an input itself keeps its own history
    torch::autograd::set_history(learned ? x : none, node);
  }
  return outputs;
}

}  // namespace heed
