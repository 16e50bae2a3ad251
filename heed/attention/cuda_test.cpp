// The same call on a GPU: every mechanism, with gradients and the same random numbers.

#include <ATen/Context.h>

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

Tensor moved(const Tensor& x) {
  if (!x.defined()) return x;
  const auto there = x.detach().to(at::kCUDA);
  return x.requires_grad() ? there.requires_grad_() : there;
}

Case moved(const Case& c) {
  Case there = c;
  for (const auto& [name, tensor] : c.parameters) there.parameters.set(name, moved(tensor));
  for (Tensor* x : {&there.query, &there.keys, &there.values, &there.call.mask.keep, &there.call.mask.key_count,
                    &there.call.bias.full, &there.call.bias.per_key, &there.call.bias.relative, &there.call.bias.alibi})
    *x = moved(*x);
  return there;
}

void expect_same_there(const std::string& spec, const std::string& mask) {
  SCOPED_TRACE(spec + ", mask " + mask);
  auto here = make_case(spec, mask);
  here.call.noise.dropout = 0.3;
  here.call.outputs = everything(here.mechanism);
  const auto there = moved(here);
  const auto a = here.run(), b = there.run();
  EXPECT_TRUE(b.context.is_cuda());
  EXPECT_TRUE(close(a.context, b.context));
  EXPECT_TRUE(close(a.weights, b.weights));
  EXPECT_TRUE(close(a.lse, b.lse));
  EXPECT_TRUE(close(a.log_probability, b.log_probability));
  const auto expected = gradients(loss_of(a), here.tensors()), found = gradients(loss_of(b), there.tensors());
  const auto names = here.leaves();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(expected[i], found[i], 1e-9)) << names[i].first;
}

TEST(OnCuda, EveryMechanismGivesTheSame) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const auto& spec : every_mechanism())
    for (const std::string mask : {"none", "all"}) expect_same_there(spec, mask);
}

TEST(OnCuda, NoCallTakesACpuKernel) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto x = at::randn({1, 6, 8}, at::TensorOptions().device(at::kCUDA));
  EXPECT_EQ(attend(x, x, x).plan.path, Path::composed);
  Call call;
  call.path = Path::fused;
  EXPECT_THROW(attend(x, x, x, {}, {}, call), Error);
}

}  // namespace
}  // namespace heed::testing
