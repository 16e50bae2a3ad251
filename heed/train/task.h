// A task: data, a task model, a loss, and how the result is judged. The training loop knows no task, and a task no
// loop. A new task is a new file with an entry in the catalogue.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/nn/module.h>

#include "heed/base/catalogue.h"
#include "heed/base/settings.h"

namespace heed {

/// Where a task works.
struct TaskEnvironment {
  std::string folder;  // of the run; what a task prepares once (tokenizers) is kept there
  at::Device device = at::kCPU;
  bool resumed = false;  // what was prepared is in the folder
};

/// One share of one batch, and the random numbers that belong to it.
struct Share {
  int64_t epoch = 0, batch = 0;
  int rank = 0, world = 1;
};

struct Loss {
  at::Tensor sum;      // over what counts in this share, to be differentiated; undefined where the share is empty
  int64_t count = 0;   // how much counts: target words, say
  at::Tensor shown{};  // what is reported as the loss, where that is not the sum
};

/// Figures by name, in order.
using Figures = std::vector<std::pair<std::string, double>>;

class Task {
 public:
  static constexpr auto kKind = "task";
  using Parts = Catalogue<Task, Settings, TaskEnvironment>;  // the whole recipe

  virtual ~Task() = default;
  virtual torch::nn::Module& model() = 0;

  /// Batches of an epoch; their order is a function of the seed and the epoch alone.
  virtual int64_t batches(int64_t epoch) = 0;
  virtual Loss loss(const Share& share) = 0;
  /// "batch 12 of epoch 3: sentences 17, 2033, ...": for someone who looks for the cause of a NaN.
  virtual std::string describe(const Share& share) = 0;

  /// On the development set, with the model in evaluation.
  virtual Figures validate() = 0;
  /// What these figures are worth: the larger, the better. Decides which weights are kept.
  virtual double score(const Figures& figures) const = 0;

  /// Writes what is needed to use the model besides its weights: tokenizers, config.json.
  virtual void write_files(const std::string& folder) = 0;
  /// After training, with the best weights: everything worth reporting. May write files into the folder, unless it is
  /// "".
  virtual nlohmann::ordered_json evaluate(const std::string& folder) = 0;
  /// Which path attention takes, in a line: "attention: fused, kernel avx2: additive x softmax"; "": it has none.
  virtual std::string attention_path() { return ""; }
  /// What a user should know before training starts, or "".
  virtual std::string remarks() const { return ""; }
  /// What it remembers from step to step besides parameters, for a checkpoint.
  virtual nlohmann::ordered_json state() const { return nullptr; }
  virtual void set_state(const nlohmann::ordered_json&) {}
  /// A hash of each text that the run depends on, by what a user calls it ("data.train a.en"). A resumed run must have
  /// the same.
  virtual nlohmann::ordered_json data_hashes() const { return nlohmann::ordered_json::object(); }
  /// The attention of the model as a spec, or the name of its attention model ("fixed"); "" where it has none.
  virtual std::string mechanism() const { return ""; }
  /// What one unit of `count` is called: "tokens".
  virtual std::string unit() const { return "tokens"; }
};

}  // namespace heed
