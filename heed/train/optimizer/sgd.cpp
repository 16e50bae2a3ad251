// Gradient descent with momentum:   m <- momentum m + g,   x <- x - rate m

#include <ATen/ATen.h>

#include "heed/train/optimizer.h"

namespace heed {

namespace {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const Options& spec) : momentum_(spec.number("momentum", 0)) {
    check(momentum_ >= 0 && momentum_ < 1, spec.part(), ": momentum is ", momentum_, ", expected 0 <= momentum < 1");
  }
  void step(State& state, at::Tensor& values, const at::Tensor& grads, double rate, int64_t) const override {
    if (momentum_ == 0) {
      values.sub_(grads, rate);
      return;
    }
    auto& m = remembered(state, "m", values);
    m.mul_(momentum_).add_(grads);
    values.sub_(m, rate);
  }

  FlatUpdate update(State& state, const at::Tensor& values) const override {
    FlatUpdate update{.rule = FlatUpdate::Rule::sgd, .beta1 = momentum_};
    if (momentum_ > 0) update.first = remembered(state, "m", values);
    return update;
  }

 private:
  double momentum_;
};

const Catalogue<Optimizer>::Entry sgd_entry{
    "sgd",
    make_part<Optimizer, Sgd>,
    {.formula = "x - rate m", .paper = "-", .choose = "to compare with papers before Adam", .order = 3}};

}  // namespace
}  // namespace heed
