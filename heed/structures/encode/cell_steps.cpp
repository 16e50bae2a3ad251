#include "heed/structures/encode/cell_steps.h"

#include <tuple>

#include <torch/csrc/autograd/custom_function.h>

#include "heed/backend/gru.h"
#include "heed/base/check.h"

namespace heed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// ---- GRU -----------------------------------------------------------------------------------------------------------

struct GruGates {
  Tensor reset_update, fresh;  // [B, 2 S], [B, S]

  static GruGates of(const Tensor& given, const Tensor& own) {
    const int64_t S = own.size(1) / 3;
    GruGates all;
    all.reset_update = (given.narrow(1, 0, 2 * S) + own.narrow(1, 0, 2 * S)).sigmoid_();
    all.fresh = at::addcmul(given.narrow(1, 2 * S, S), all.reset(), own.narrow(1, 2 * S, S)).tanh_();
    return all;
  }
  /// From r z n [B, 3 S].
  static GruGates in(const Tensor& all) {
    const int64_t S = all.size(1) / 3;
    return {all.narrow(1, 0, 2 * S), all.narrow(1, 2 * S, S)};
  }
  Tensor reset() const { return reset_update.narrow(1, 0, fresh_width()); }
  Tensor update() const { return reset_update.narrow(1, fresh_width(), fresh_width()); }
  int64_t fresh_width() const { return reset_update.size(1) / 2; }
};

/// Gradients with respect to given, own and before, from that of h': da_n = dh' (1 - z)(1 - n^2), da_r = da_n o_n r (1
/// - r), da_z = dh' (h - n) z (1 - z).
variable_list gru_gradients(const GruGates& gates, const Tensor& own, const Tensor& before, const Tensor& grad) {
  const auto r = gates.reset(), z = gates.update();
  const auto& n = gates.fresh;
  const auto own_fresh = own.narrow(1, 2 * n.size(1), n.size(1));
  const auto da_n = grad * (1 - z) * (1 - n * n);
  const auto da_r = da_n * own_fresh * r * (1 - r);
  const auto da_z = grad * (before - n) * z * (1 - z);
  return {at::cat({da_r, da_z, da_n}, 1), at::cat({da_r, da_z, da_n * r}, 1), grad * z};
}

struct GruStep : torch::autograd::Function<GruStep> {
  static Tensor forward(AutogradContext* context, const Tensor& given, const Tensor& own, const Tensor& before) {
    const bool kernel = has_gru_kernel(own);
    auto [after, gates] = kernel ? gru_forward(given, own, before) : by_torch(given, own, before);
    context->save_for_backward({given, own, before, gates});
    context->saved_data["kernel"] = kernel;
    context->set_materialize_grads(false);
    return after;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(3);
    const auto saved = context->get_saved_variables();
    const auto &own = saved[1], &before = saved[2], &gates = saved[3];
    if (at::GradMode::is_enabled()) return gru_gradients(GruGates::of(saved[0], own), own, before, grads[0]);
    if (!context->saved_data["kernel"].toBool()) return gru_gradients(GruGates::in(gates), own, before, grads[0]);
    auto found = gru_backward(gates, own, before, grads[0]);
    return {std::move(found[0]), std::move(found[1]), std::move(found[2])};
  }

 private:
  static std::pair<Tensor, Tensor> by_torch(const Tensor& given, const Tensor& own, const Tensor& before) {
    const auto gates = GruGates::of(given, own);
    return {at::lerp(gates.fresh, before, gates.update()), at::cat({gates.reset_update, gates.fresh}, 1)};
  }
};

// ---- LSTM ----------------------------------------------------------------------------------------------------------

struct LstmGates {
  Tensor in_forget, fresh, out;  // [B, 2 S], [B, S], [B, S]

  static LstmGates of(const Tensor& gates) {
    const int64_t S = gates.size(1) / 4;
    return {gates.narrow(1, 0, 2 * S).sigmoid(), gates.narrow(1, 2 * S, S).tanh(), gates.narrow(1, 3 * S, S).sigmoid()};
  }
  Tensor in() const { return in_forget.narrow(1, 0, fresh.size(1)); }
  Tensor forget() const { return in_forget.narrow(1, fresh.size(1), fresh.size(1)); }
  /// c'
  Tensor after(const Tensor& before) const { return at::addcmul(in() * fresh, forget(), before); }
};

/// Gradients with respect to gates and before, from those of h' and c'; tanh_after: tanh(c').
variable_list lstm_gradients(const LstmGates& gates, const Tensor& tanh_after, const Tensor& before,
                             const Tensor& hidden, const Tensor& cell) {
  const auto i = gates.in(), f = gates.forget();
  const auto &g = gates.fresh, &o = gates.out;
  auto dc = cell;
  if (hidden.defined()) {
    const auto by_hidden = hidden * o * (1 - tanh_after * tanh_after);
    dc = dc.defined() ? dc + by_hidden : by_hidden;
  }
  const auto da_o = hidden.defined() ? hidden * tanh_after * o * (1 - o) : at::zeros_like(o);
  return {at::cat({dc * g * i * (1 - i), dc * before * f * (1 - f), dc * i * (1 - g * g), da_o}, 1), dc * f};
}

struct LstmStep : torch::autograd::Function<LstmStep> {
  static variable_list forward(AutogradContext* context, const Tensor& gates, const Tensor& before) {
    const auto all = LstmGates::of(gates);
    const auto after = all.after(before), tanh_after = after.tanh();
    context->save_for_backward({gates, before, all.in_forget, all.fresh, all.out, tanh_after});
    context->set_materialize_grads(false);
    return {all.out * tanh_after, after};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined() && !grads[1].defined()) return variable_list(2);
    const auto saved = context->get_saved_variables();
    const auto& before = saved[1];
    if (!at::GradMode::is_enabled())
      return lstm_gradients({saved[2], saved[3], saved[4]}, saved[5], before, grads[0], grads[1]);
    const auto gates = LstmGates::of(saved[0]);
    return lstm_gradients(gates, gates.after(before).tanh(), before, grads[0], grads[1]);
  }
};

}  // namespace

Tensor gru_step(const Tensor& given, const Tensor& own, const Tensor& before) {
  if (own.is_cuda()) return std::get<0>(at::_thnn_fused_gru_cell(given, own, before));
  return GruStep::apply(given, own, before);
}

std::pair<Tensor, Tensor> lstm_step(const Tensor& gates, const Tensor& before) {
  const auto after = LstmStep::apply(gates, before);
  return {after[0], after[1]};
}

CellSteps::CellSteps(Cell cell, const CellWeights& w, const Tensor& known) : cell_(cell) {
  const int64_t K = known.size(2), rest = w.inputs.size(1) - K;
  check(rest >= 0, "recurrent: inputs are ", K, " wide, expected at most ", w.inputs.size(1));
  // One split instead of two views: its backward is one concatenation.
  const auto parts = rest == 0 ? std::vector<Tensor>{w.inputs} : w.inputs.split_with_sizes({K, rest}, 1);
  // In a GRU the reset gate multiplies the second bias, so the two cannot be added in advance.
  const auto bias = cell == Cell::lstm ? w.inputs_bias + w.states_bias : w.inputs_bias;
  from_known_ = at::linear(known, parts[0], bias).unbind(0);
  if (rest > 0) from_rest_ = CollectedProduct(parts[1]);
  from_state_ = cell == Cell::gru ? CollectedProduct(w.states, w.states_bias) : CollectedProduct(w.states);
}

void CellSteps::step(int64_t t, const Tensor& rest, Tensor& hidden, Tensor& cell) {
  const auto& known = from_known_[static_cast<size_t>(t)];
  const auto given = from_rest_.defined() ? from_rest_(rest, known) : known;  // [B, G]
  if (cell_ == Cell::gru) {
    hidden = gru_step(given, from_state_(hidden), hidden);
    return;
  }
  if (given.is_cuda())
    std::tie(hidden, cell, std::ignore) = at::_thnn_fused_lstm_cell(given, from_state_(hidden), cell);
  else
    std::tie(hidden, cell) = lstm_step(from_state_(hidden, given), cell);
}

}  // namespace heed
