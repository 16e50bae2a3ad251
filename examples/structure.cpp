// One structure, several mechanisms: sentiment towards a target between two contexts (rotatory attention), trained on
// synthetic contexts in which one word decides the label. Only the spec of the mechanism changes. Expected, about:
//
//   activated_general + softmax    100 % right, 0.31 of the weight on the word that decides
//   additive + sparsemax           100 % right, 0.59 of the weight on the word that decides
//   scaled_dot + entmax(1.5)        98 % right, 0.20 of the weight on the word that decides
//
// Uniform weights would give each of the six words 0.17.

#include <cstdio>

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace {

constexpr int64_t kBatch = 64, kWords = 6, kWidth = 16;

struct Example {
  heed::StructureInput given;
  at::Tensor label, position;  // [B]: the class, and the position in the left context of the word that decides it
};

/// Words are noise, except one in the left context: plus or minus a fixed vector. The right context is empty in every
/// second sentence, as in a sentence that ends with its target.
Example make(const at::Tensor& opinion) {
  Example e;
  e.label = at::randint(0, 2, {kBatch}, at::kLong);
  e.position = at::randint(0, kWords, {kBatch}, at::kLong);
  auto left = at::randn({kBatch, kWords, kWidth}) * 0.5;
  const auto said = (e.label * 2 - 1).to(at::kFloat).unsqueeze(1) * opinion;  // [B, D]
  left.index_put_({at::arange(kBatch), e.position}, said);
  const heed::Features target{at::randn({kBatch, 2, kWidth}) * 0.5};
  heed::Features right{at::randn({kBatch, kWords, kWidth}) * 0.5, at::ones({kBatch, kWords}, at::kBool)};
  right.keep.slice(0, 0, kBatch, 2).fill_(false);
  e.given.features = {{left}, target, right};
  return e;
}

}  // namespace

int main() {
  bool fine = true;
  for (const char* mechanism : {"activated_general + softmax", "additive + sparsemax", "scaled_dot + entmax(1.5)"}) {
    torch::manual_seed(1);
    const auto opinion = at::randn({kWidth});
    auto rotatory = heed::structure("rotatory(hops=2)", {.features = {kWidth}, .mechanism = mechanism});
    torch::nn::Linear classifier(rotatory->width(), 2);
    auto parameters = rotatory->parameters();
    for (const auto& p : classifier->parameters()) parameters.push_back(p);
    torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(3e-3));
    for (int step = 0; step < 300; ++step) {
      const auto e = make(opinion);
      optimizer.zero_grad();
      at::cross_entropy_loss(classifier(rotatory->forward(e.given).context.squeeze(1)), e.label).backward();
      optimizer.step();
    }

    rotatory->eval();
    const at::NoGradGuard no_grad;
    auto e = make(opinion);
    e.given.call.outputs.weights = true;
    const auto out = rotatory->forward(e.given);
    const auto right = (classifier(out.context.squeeze(1)).argmax(1) == e.label).to(at::kFloat).mean().item<double>();
    const auto weights = out.step("left_2").weights.squeeze(1);  // [B, L]: left context, second hop
    const auto seen = weights.gather(1, e.position.unsqueeze(1)).mean().item<double>();
    std::printf("%-30s %3.0f %% right, %.2f of the weight on the word that decides\n", mechanism, 100 * right, seen);
    fine = fine && right > 0.9;
  }
  return fine ? 0 : 1;
}
