// Adam (Kingma & Ba, 2015), and AdamW with decoupled weight decay (Loshchilov & Hutter, 2019). b1, b2: beta1, beta2;
// decay: weight_decay; eps: epsilon.
//
//   m <- b1 m + (1 - b1) g        v <- b2 v + (1 - b2) g^2
//   x <- x - rate decay x - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)

#include <cmath>

#include <ATen/ATen.h>

#include "heed/train/optimizer.h"

namespace heed {
namespace {

class Adam : public Optimizer {
 public:
  explicit Adam(const Options& spec, double decay = 0)
      : b1_(spec.number("beta1", 0.9)),
        b2_(spec.number("beta2", 0.98)),
        epsilon_(spec.number("epsilon", 1e-8)),
        decay_(spec.number("weight_decay", decay)) {
    check(b1_ >= 0 && b1_ < 1 && b2_ >= 0 && b2_ < 1, spec.part(), ": beta1 and beta2 are ", b1_, " and ", b2_,
          ", expected 0 <= beta < 1");
    check(epsilon_ > 0 && epsilon_ <= 1 && decay_ >= 0 && decay_ <= 1, spec.part(), ": epsilon is ", epsilon_,
          " and weight_decay ", decay_, ", expected 0 < epsilon <= 1 and 0 <= weight_decay <= 1");
  }

  void step(State& state, at::Tensor& values, const at::Tensor& grads, double rate, int64_t number) const override {
    auto &m = remembered(state, "m", values), &v = remembered(state, "v", values);
    m.mul_(b1_).add_(grads, 1 - b1_);
    v.mul_(b2_).addcmul_(grads, grads, 1 - b2_);
    if (decay_ > 0) values.mul_(1 - rate * decay_);
    const auto t = static_cast<double>(number);
    const double m_share = 1 - std::pow(b1_, t), v_share = 1 - std::pow(b2_, t);
    values.addcdiv_(m, v.sqrt().div_(std::sqrt(v_share)).add_(epsilon_), -rate / m_share);
  }

  FlatUpdate update(State& state, const at::Tensor& values) const override {
    return {.rule = FlatUpdate::Rule::adam,
            .beta1 = b1_,
            .beta2 = b2_,
            .epsilon = epsilon_,
            .decay = decay_,
            .first = remembered(state, "m", values),
            .second = remembered(state, "v", values)};
  }

 private:
  double b1_, b2_, epsilon_, decay_;
};

class AdamW final : public Adam {
 public:
  explicit AdamW(const Options& spec) : Adam(spec, 0.01) {}
};

const Catalogue<Optimizer>::Entry adam_entry{
    "adam",
    make_part<Optimizer, Adam>,
    {.formula = "x - rate m^ / (sqrt(v^) + eps)", .paper = "Kingma & Ba, 2015", .choose = "the default", .order = 1}};
const Catalogue<Optimizer>::Entry adamw_entry{"adamw",
                                              make_part<Optimizer, AdamW>,
                                              {.formula = "(1 - rate decay) x - rate m^ / (sqrt(v^) + eps)",
                                               .paper = "Loshchilov & Hutter, 2019",
                                               .choose = "larger models that learn their data by heart",
                                               .order = 2}};

}  // namespace
}  // namespace heed
