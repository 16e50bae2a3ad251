// Training steps on a GPU that the host only enqueues. Loss and norm of a step come back while later steps run, so the
// host never waits for the GPU, and what it prepares for the next step costs nothing.
//
//   input -> one copy from pinned memory -> forward, backward -> norm, clipping, optimizer, average -> loss, norm
//
// A step that is not finite changes nothing, nor does any step after it (backend/flat_step.h): when the host sees
// its numbers, at most kMaxMissing steps later, the weights are still those before it.
//
// Where inputs have shapes, the second step of a shape is recorded as a CUDA graph and replayed from then on: a small
// model otherwise spends its time launching. Replays give the same bits as live steps. A step that draws by a seed
// which is a plain number (NoiseScope::note_plain_seed) stays live.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/backend/flat_step.h"
#include "heed/torch_support/captured.h"
#include "heed/train/train_report.h"
#include "heed/train/training.h"

namespace c10 {
struct Event;
}

namespace heed {

class DeviceStep {
 public:
  static constexpr size_t kMaxMissing = 8;   // steps ahead of their results
  static constexpr size_t kMaxGraphs = 160;  // recorded steps; the one that was not used for longest is dropped
  static constexpr double kFreeShare = 0.1;  // of the GPU's memory: with less, no more steps are recorded
  static inline bool on_cpu_too = false;     // for tests: steps on the CPU are enqueued as well

  /// Whether the steps of a run can be enqueued: those of one process on a GPU.
  static bool fits(const Training& training);

  explicit DeviceStep(Training& training);
  ~DeviceStep();

  /// Enqueues the step that follows training.state. The result has count and rate; loss and norm come later.
  StepResult enqueue();
  /// Asks for loss and norm of the step that was just enqueued; result.step and result.epoch are set by now.
  void expect(const StepResult& result, const Share& first);
  /// Results that have come, in their order, each with the first share of its step. Waits until at most `missing` are
  /// missing.
  std::vector<std::pair<StepResult, Share>> arrived(size_t missing);
  /// Computes the gradients of an earlier step again, on the weights as they are.
  void repeat(const StepResult& result, const Share& first);

  /// Steps that were replayed so far.
  int64_t replayed() const { return replayed_; }
  /// Why nothing is recorded although it might be; "" if nothing is wrong.
  const std::string& remark() const { return remark_; }

 private:
  struct Missing {
    StepResult result;
    Share first;
    at::Tensor stats;                  // pinned
    std::unique_ptr<c10::Event> done;  // null on the CPU
  };
  struct Shape {
    int64_t seen = 0, used = 0;  // live steps; number of the last step
    bool live = false;           // never recorded
    std::unique_ptr<Captured> graph{};
    at::Tensor buffer{};  // what the graph reads
  };

  void send_numbers(const StepResult& result);
  at::Tensor on_device(const at::Tensor& host) const;
  void begin();
  int64_t add(const std::function<Loss()>& compute_loss);
  void finish();
  void compute(const Share& share, const TaskInput& input, const at::Tensor& buffer);
  void run(const Share& share, const TaskInput& input);
  void run_live(const Share& share, const TaskInput& input, Shape* shape);
  bool record(const Share& share, const TaskInput& input, Shape& shape);
  void drop_oldest();

  Training& training_;
  FlatUpdate update_;
  FlatTensors tensors_;
  at::Tensor seed_cell_;  // NoiseScope::fill
  bool captures_;
  CaptureStream stream_;
  std::unique_ptr<CapturePool> pool_;
  std::map<std::vector<int64_t>, Shape> shapes_;
  size_t graphs_ = 0;
  int64_t steps_ = 0, replayed_ = 0;
  std::string remark_;
  std::deque<Missing> missing_;
};

/// A seed for each (seed, step, rank): torch's generators are seeded with it before every step.
uint64_t step_seed(const Training& training, int64_t step);

/// The weight of the new values in the moving average after step `number`, from 1: larger in the first steps, so that
/// the random initial weights are soon forgotten.
double average_weight(double decay, int64_t number);

}  // namespace heed
