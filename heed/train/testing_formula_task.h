// A task with known results: batch b has n_b tokens and a center c_b, and its loss is
//
//   sum over tokens of |w - c_b|^2 / 2        so that d/dw = n_b (w - c_b)
//
// Tests set the results of its validations through `script`, and read what it recorded there.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "heed/data/file.h"
#include "heed/train/task.h"

namespace heed::testing {

using Numbers = std::vector<double>;

struct FormulaBatch {
  int64_t tokens = 0;
  Numbers center{};
};
struct FormulaScript {
  Numbers start{1.5, -2, 0.25};
  std::vector<FormulaBatch> batches{{3, {1, 0, 0}}, {1, {0, 4, 0}}, {4, {0, 0, -2}}, {2, {-1, 1, 3}}, {5, {2, 2, 2}}};
  Numbers score{};                               // per validation; the last one repeats
  std::function<void(const Share&)> training{};  // called for each batch
  std::function<void()> validating{};            // called in each validation
  std::function<void()> state{};                 // called for each checkpoint
  bool shows_twice_the_loss = false;             // reports another number than it differentiates
  std::vector<Numbers> validated_at{};           // weights that the validations saw
  Numbers judged_at{};
  std::vector<bool> in_training{};  // mode of the model at each batch, validation and evaluation
};

class FormulaTask final : public Task {
 public:
  static inline FormulaScript script{};

  /// Epoch e starts with batch e of the script.
  static const FormulaBatch& batch_of(int64_t epoch, int64_t batch) {
    return script.batches[static_cast<size_t>(epoch + batch) % script.batches.size()];
  }

  FormulaTask() : model_(std::make_shared<torch::nn::Module>()) {
    weights_ = model_->register_parameter("w", at::tensor(script.start, at::TensorOptions(at::kDouble)));
  }

  torch::nn::Module& model() override { return *model_; }
  int64_t batches(int64_t) override { return static_cast<int64_t>(script.batches.size()); }
  Loss loss(const Share& share) override {
    const FormulaBatch& batch = batch_of(share.epoch, share.batch);
    script.in_training.push_back(model_->is_training());
    if (script.training) script.training(share);
    Loss loss;
    if (share.rank >= batch.tokens) return loss;
    loss.count = (batch.tokens - share.rank - 1) / share.world + 1;  // tokens rank, rank + world, ...
    const auto away = weights_ - at::tensor(batch.center, at::TensorOptions(at::kDouble));
    loss.sum = static_cast<double>(loss.count) * away.square().sum() / 2;
    if (script.shows_twice_the_loss) loss.shown = 2 * loss.sum.detach();
    return loss;
  }
  std::string describe(const Share& share) override { return "batch " + std::to_string(share.batch); }

  Figures validate() override {
    script.in_training.push_back(model_->is_training());
    if (script.validating) script.validating();
    script.validated_at.push_back(numbers());
    const size_t next = script.validated_at.size() - 1;
    return {{"figure", script.score.empty() ? 0 : script.score[std::min(next, script.score.size() - 1)]}};
  }
  std::string unit() const override { return "tokens"; }
  double score(const Figures& figures) const override { return figures[0].second; }
  void write_files(const std::string& folder) override { write_atomically(folder + "/config.json", "{}\n"); }
  nlohmann::ordered_json state() const override {
    if (script.state) script.state();
    return nullptr;
  }
  nlohmann::ordered_json evaluate(const std::string&) override {
    script.in_training.push_back(model_->is_training());
    script.judged_at = numbers();
    return {{"judged", true}};
  }

 private:
  Numbers numbers() const {
    const auto all = weights_.detach().contiguous();
    return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
  }

  std::shared_ptr<torch::nn::Module> model_;
  at::Tensor weights_;
};

}  // namespace heed::testing
