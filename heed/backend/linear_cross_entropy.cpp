#include "heed/backend/linear_cross_entropy.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/train/cross_entropy.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/own_backward.h"
#include "heed/torch_support/parallel.h"
#include "heed/torch_support/recompute.h"

namespace heed {
namespace {

constexpr int64_t kLogits = 1 << 22;  // numbers of logits at a time: 16 MB, which a third cache holds

at::Tensor composed(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& wanted,
                    const CrossEntropyOptions& options) {
  return cross_entropy(at::linear(x, weight, bias).to(at::promote_types(at::kFloat, x.scalar_type())), wanted, options);
}

void check_wanted(const at::Tensor& wanted, int64_t classes, int64_t ignored) {
  const int64_t* const all = wanted.data_ptr<int64_t>();
  for (int64_t i = 0; i < wanted.numel(); ++i)
    check(all[i] == ignored || (all[i] >= 0 && all[i] < classes), "cross_entropy: row ", i, " wants class ", all[i],
          ", expected 0 to ", classes - 1, ", or ", ignored, " for none");
}

/// Inputs: x, W, b. Output: the sum of the loss.
class LinearCrossEntropy final : public OwnBackward {
 public:
  LinearCrossEntropy(const at::Tensor& wanted, const CrossEntropyOptions& options, std::vector<bool> learns)
      : wanted_(wanted), o_(options), learns_(std::move(learns)) {}

  Tensors forward(const Tensors& inputs) override {
    const auto &x = inputs[0], &weight = inputs[1], &bias = inputs[2];
    const int64_t n = x.size(0), classes = weight.size(0);
    const bool gradient = learns_[0] || learns_[1] || learns_[2];
    for (size_t i = 0; i < 3; ++i)
      if (learns_[i]) gradients_[i] = n == 0 ? at::zeros_like(inputs[i]) : at::empty_like(inputs[i]);
    const int64_t max_rows = std::max<int64_t>(1, kLogits / classes), parts = (n + max_rows - 1) / max_rows;
    const int64_t some = parts == 0 ? 0 : (n + parts - 1) / parts;
    const auto buffer = at::empty({some, classes}, x.options());
    double loss = 0;
    for (int64_t first = 0; first < n; first += some) {
      const int64_t rows = std::min(some, n - first);
      auto logits = buffer.narrow(0, 0, rows);
      const auto own = x.narrow(0, first, rows);
      if (bias.defined())
        at::addmm_out(logits, bias, own, weight.t());
      else
        at::mm_out(logits, own, weight.t());
      loss += kernels::cpu::cross_entropy({.rows = rows,
                                           .classes = classes,
                                           .logits = logits.data_ptr<float>(),
                                           .wanted = wanted_.data_ptr<int64_t>() + first,
                                           .ignored = o_.ignored,
                                           .smoothing = o_.smoothing,
                                           .gradient = gradient},
                                          on_torch_threads);
      if (gradient) add_gradients(logits, own, weight, first);
    }
    return {at::full({}, loss, x.options())};
  }

  Tensors backward(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) override {
    if (!grads[0].defined()) return Tensors(3);
    if (at::GradMode::is_enabled()) return differentiable(inputs, grads, wanted);
    check(!consumed_, "cross_entropy: got a second backward, expected one: the first was given the gradients");
    const auto factor = grads[0].item<double>();
    Tensors found(3);
    for (size_t i = 0; i < 3; ++i)
      if (wanted[i]) found[i] = o_.consume ? gradients_[i].mul_(factor) : gradients_[i] * factor;
    if (o_.consume) gradients_ = Tensors(3);
    consumed_ = o_.consume;
    return found;
  }

 private:
  /// logits: by now their gradients, of rows from `first` on.
  void add_gradients(const at::Tensor& logits, const at::Tensor& x, const at::Tensor& weight, int64_t first) {
    if (learns_[0]) {
      auto part = gradients_[0].narrow(0, first, x.size(0));
      at::mm_out(part, logits, weight);
    }
    if (learns_[1]) {
      if (first == 0)
        at::mm_out(gradients_[1], logits.t(), x);
      else
        gradients_[1].addmm_(logits.t(), x);
    }
    if (learns_[2]) {
      if (first == 0)
        at::sum_out(gradients_[2], logits, 0);
      else
        gradients_[2].add_(logits.sum(0));
    }
  }

  Tensors differentiable(const Tensors& inputs, const Tensors& grads, const std::vector<bool>& wanted) const {
    const auto o = CrossEntropyOptions{.smoothing = o_.smoothing, .ignored = o_.ignored};
    const auto step = [wanted = wanted_, o](const Tensors& given) {
      return Tensors{composed(given[0], given[1], given[2], wanted, o)};
    };
    Tensors given = inputs;
    given.push_back(grads[0]);
    return gradients_of(step, wanted)(given);
  }

  at::Tensor wanted_;
  CrossEntropyOptions o_;
  std::vector<bool> learns_;
  Tensors gradients_ = Tensors(3);
  bool consumed_ = false;
};

bool has_kernel(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& wanted) {
  const auto plain = [](const at::Tensor& t) { return t.device().is_cpu() && t.scalar_type() == at::kFloat; };
  return plain(x) && plain(weight) && (!bias.defined() || plain(bias)) && x.dim() == 2 && weight.dim() == 2 &&
         weight.size(0) > 0 && weight.size(1) == x.size(1) && wanted.device().is_cpu() && wanted.dim() == 1 &&
         wanted.scalar_type() == at::kLong && wanted.size(0) == x.size(0) && !autocasts(x.device());
}

}  // namespace

at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                const at::Tensor& wanted, const CrossEntropyOptions& options) {
  if (!has_kernel(x, weight, bias, wanted)) return composed(x, weight, bias, wanted, options);
  const auto classes = wanted.contiguous();
  check_wanted(classes, weight.size(0), options.ignored);
  std::vector<bool> wants;
  for (const auto* input : {&x, &weight, &bias})
    wants.push_back(at::GradMode::is_enabled() && input->defined() && input->requires_grad());
  return run(c10::make_intrusive<LinearCrossEntropy>(classes, options, wants),
             {x.contiguous(), weight.contiguous(), bias})
      .front();
}

}  // namespace heed
