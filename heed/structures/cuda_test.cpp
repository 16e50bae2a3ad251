// Every structure and variant gives the same context and gradients on a GPU as on the CPU.

#include <ATen/Context.h>

#include "heed/structures/testing.h"

namespace heed::testing {
namespace {

Tensor on_gpu(const Tensor& x) {
  if (!x.defined()) return x;
  const auto there = x.detach().to(at::kCUDA);
  return x.requires_grad() ? there.requires_grad_() : there;
}

StructureCase on_gpu(const StructureCase& c) {
  StructureCase there = c;
  there.structure = std::dynamic_pointer_cast<Structure>(c.structure->clone(torch::Device(at::kCUDA)));
  for (auto& f : there.given.features) f = {on_gpu(f.rows), on_gpu(f.keep)};
  there.given.query = on_gpu(c.given.query);
  return there;
}

TEST(StructuresOnCuda, GiveTheSame) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const auto& spec : every_structure())
    for (const Real real : {Real::all, Real::edge}) {
      SCOPED_TRACE(spec);
      const auto here = make_structure_case(spec, "", real);
      here.structure->train();  // cuDNN has no backward for recurrent layers in evaluation mode; softmax draws nothing
      try {
        const auto there = on_gpu(here);
        const auto a = here.run(), b = there.run();
        EXPECT_TRUE(b.context.is_cuda());
        EXPECT_TRUE(close(a.context, b.context));
        const auto expected = gradients(loss_of(a), here.tensors()), found = gradients(loss_of(b), there.tensors());
        const auto names = here.leaves();
        for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(expected[i], found[i], 1e-9)) << names[i].first;
      } catch (const std::exception& error) {
        ADD_FAILURE() << std::string(error.what()).substr(0, 400);
      }
    }
}

}  // namespace
}  // namespace heed::testing
