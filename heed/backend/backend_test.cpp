// A backend of the test's own, which enters the catalogue as any other: the mean of all values, for calls that request
// it by their soft cap.

#include "heed/backend/backend.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "heed/attention/attend.h"
#include "heed/backend/plan.h"

namespace heed::backend {
namespace {

constexpr double kSign = 1234.5;  // a soft cap that no other test has

int calls = 0, gradients = 0;

class Mean final : public Backend {
 public:
  explicit Mean(const Options&) {}

  Path path() const override { return Path::fused; }
  std::string why_not(const CallRecord& r) const override { return r.call.soft_cap == kSign ? "" : "not asked for"; }
  int priority(const CallRecord&) const override { return 1000; }
  void describe(const CallRecord&, Plan& plan) const override { plan.kernel = "mean"; }
  ForwardResult forward(const CallRecord& r, bool) const override {
    ++calls;
    ForwardResult result;
    const Tensor& values = r.in[kTileValues];
    result.outputs[kContext] =
        values.mean(2, /*keepdim=*/true).expand({r.batch, r.heads, r.queries, values.size(3)}).clone();
    result.saved.others = {at::full({1}, r.keys)};
    return result;
  }
  Tensors backward(const CallRecord& r, const SavedTensors& saved, const Tensors& grads,
                   const std::vector<bool>& wanted) const override {
    ++gradients;
    Tensors result(r.in.size());
    if (wanted[kTileValues])
      result[kTileValues] = (grads[kContext].sum(2, /*keepdim=*/true) / saved.others[0]).expand_as(r.in[kTileValues]);
    return result;
  }
};

const Catalogue<Backend>::Entry mean_entry{"mean_of_a_test", make_part<Backend, Mean>, {}};

struct Inputs {
  Tensor query = at::randn({2, 3, 4}), keys = at::randn({2, 5, 4}), values = at::randn({2, 5, 6}).requires_grad_();
  Call call{.soft_cap = kSign};
};

TEST(Backend, OfAUserRunsWhatItSupports) {
  Inputs in;
  calls = gradients = 0;
  const auto a = attend(in.query, in.keys, in.values, {}, {}, in.call);
  EXPECT_EQ(a.plan.path, Path::fused);
  EXPECT_EQ(a.plan.kernel, "mean");
  EXPECT_TRUE(a.context.allclose(in.values.mean(1, true).expand({2, 3, 6})));
  a.context.sum().backward();
  EXPECT_TRUE(in.values.grad().allclose(at::full({2, 5, 6}, 3.0 / 5)));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(gradients, 1);
}

TEST(Backend, SaysWhyItDoesNotRun) {
  Inputs in;
  in.call.soft_cap = 0;
  const auto plan = why(in.query, in.keys, in.values, {}, {}, in.call);
  EXPECT_NE(plan.to_string().find("not asked for"), std::string::npos) << plan.to_string();
}

TEST(Backend, LeavesSecondDerivativesToTheOneThatHasThem) {
  Inputs in;
  gradients = 0;
  const auto context = attend(in.query, in.keys, in.values, {}, {}, in.call).context;
  const auto first =
      torch::autograd::grad({context.square().sum()}, {in.values}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  EXPECT_EQ(gradients, 0);
  EXPECT_TRUE(first.requires_grad());
  first.sum().backward();
  EXPECT_TRUE(in.values.grad().defined());
}

// A plan explains what attend() would refuse, and never throws for it.
TEST(Backend, ExplainsARefusedPathWithoutThrowing) {
  Inputs in;
  Call call;
  call.path = Path::fused;
  call.noise.sample = true;
  const auto reinforced = Mechanism::parse("dot + reinforced");
  const auto parameters = initialized(reinforced.parameters({4, 4, 6, 4}));
  const auto plan = why(in.query, in.keys, in.values, reinforced, parameters, call);
  EXPECT_NE(plan.refused.find("no fused kernel for dot + reinforced"), std::string::npos) << plan.refused;
  EXPECT_EQ(plan.to_string().rfind("refused: ", 0), 0U);
  EXPECT_THROW(attend(in.query, in.keys, in.values, reinforced, parameters, call), Error);
}

TEST(Backend, RefusesATensorThatItDoesNotRead) {
  CallRecord record;
  EXPECT_EQ(why_not_read(record, {}), "");
  record.in[kQuery] = record.in[kTileQuery] = at::zeros({1});  // not given by the caller as an option
  record.in[kAlibi] = at::zeros({1});
  EXPECT_EQ(why_not_read(record, {kFull, kAlibi}), "");
  EXPECT_EQ(why_not_read(record, {kFull}), "it does not read bias: alibi, which the call has");
}

TEST(Backend, IsAnEntryOfACatalogue) {
  std::vector<std::string> names = Catalogue<Backend>::names();
  for (const std::string name : {"composed", "cpu", "reference", "stored"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_EQ(backends().size(), names.size());
}

}  // namespace
}  // namespace heed::backend
