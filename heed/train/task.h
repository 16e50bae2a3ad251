// A task: data, a model, a loss, and the evaluation. The training loop is independent of the task, and the task of the
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

/// The run folder and device of a task.
struct TaskEnvironment {
  std::string folder;  // run folder; holds files that a task prepares once (tokenizers)
  at::Device device = at::kCPU;
  bool resumed = false;  // the prepared files exist in the folder
  int64_t seed = 1;      // train.seed
};

/// The part of one batch that one process computes.
struct Share {
  int64_t epoch = 0, batch = 0;
  int rank = 0, world = 1;
};

/// Loss of a share.
struct Loss {
  at::Tensor sum;      // over the terms of the share, differentiable; undefined if the share is empty
  int64_t count = 0;   // number of terms, in units of Task::unit()
  at::Tensor shown{};  // loss to report, if it is not `sum`
};

/// What loss() reads of a share, in one piece of memory: a single copy moves it to a GPU, also to where a captured step
/// reads it. A task derives its own from it.
struct TaskInput {
  virtual ~TaskInput() = default;
  at::Tensor buffer;           // uint8 [n] on the host, pinned for a GPU
  std::vector<int64_t> shape;  // inputs of the same shape take the same operations on tensors of the same sizes
  int64_t count = 0;           // Loss::count
};

/// Metrics of a validation by name, in order.
using Figures = std::vector<std::pair<std::string, double>>;

class Task {
 public:
  static constexpr auto kKind = "task";
  using Parts = Catalogue<Task, Settings, TaskEnvironment>;  // arguments: the whole recipe, the environment

  virtual ~Task() = default;
  virtual torch::nn::Module& model() = 0;

  /// Number of batches of an epoch; their order is a function of the seed and the epoch alone.
  virtual int64_t batches(int64_t epoch) = 0;
  /// Loss of a share of a batch, with the model in training mode.
  virtual Loss loss(const Share& share) = 0;
  /// The input of a share, if loss() below can compute from a copy of it; otherwise null. A step with an input may be
  /// captured and replayed with another input of the same shape.
  virtual std::shared_ptr<const TaskInput> input(const Share& /*share*/) { return nullptr; }
  /// The same as loss(share), from the input of the share with its buffer copied to the device.
  virtual Loss loss(const Share& share, const TaskInput& input, const at::Tensor& buffer);
  /// Seeds torch's generator on a GPU as loss() of the share does, and fills the cell of seeds (NoiseScope::fill). A
  /// replayed step draws from both.
  virtual void seed(const Share& /*share*/, const at::Tensor& /*cell*/) {}
  /// "batch 12 of epoch 3: pairs 17, 2033, ...": to find the cause of a NaN.
  virtual std::string describe(const Share& share) = 0;

  /// Metrics on the development set, with the model in evaluation mode.
  virtual Figures validate() = 0;
  /// Score of the metrics, larger is better. The weights with the best score are kept.
  virtual double score(const Figures& figures) const = 0;

  /// Writes the files needed to use the model in addition to its weights: tokenizers, config.json.
  virtual void write_files(const std::string& folder) = 0;
  /// The final report, after training, with the best weights. May write files into the folder, unless it is "".
  virtual nlohmann::ordered_json evaluate(const std::string& folder) = 0;
  /// The path of attention, in one line: "attention: fused, kernel avx2: additive x softmax"; "" without attention.
  virtual std::string attention_path() { return ""; }
  /// A remark for the user before training starts, or "".
  virtual std::string remarks() const { return ""; }
  /// State in addition to the parameters, for a checkpoint.
  virtual nlohmann::ordered_json state() const { return nullptr; }
  virtual void set_state(const nlohmann::ordered_json&) {}
  /// A hash of each set of data that the run depends on, by a name for messages ("data.train (source, a.en)"). A
  /// resumed run must have the same hashes.
  virtual nlohmann::ordered_json data_hashes() const { return nlohmann::ordered_json::object(); }
  /// The attention of the model as a spec, or the name of its attention model ("fixed"); "" without attention.
  virtual std::string mechanism() const { return ""; }
  /// Unit of Loss::count, for reports: "tokens" of a text, "images".
  virtual std::string unit() const = 0;
  /// Tokens for each of them, the mean over the training set, so that speeds of all tasks are comparable.
  virtual double tokens_per_unit() const { return 1; }
  /// Whether another value of this key of the recipe makes another run, which cannot go on from a checkpoint.
  virtual bool is_fixed(const std::string& /*key*/) const { return false; }
};

/// Reads the key `task` of a recipe.
std::string read_task_name(const Settings& recipe);

}  // namespace heed
