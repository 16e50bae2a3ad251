#include "heed/train/device_step.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/utils.h>

#include "heed/base/check.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

constexpr int64_t kLiveFirst = 1;  // steps of a shape before one is recorded: libraries prepare themselves in them

at::Tensor host_tensor(at::IntArrayRef shape, bool pinned) {
  return at::empty(shape, at::TensorOptions(at::kDouble).pinned_memory(pinned));
}

}  // namespace

uint64_t step_seed(const Training& training, int64_t step) {
  uint64_t x = static_cast<uint64_t>(training.options.seed) * 0x9E3779B97F4A7C15 +
               static_cast<uint64_t>(step) * 0xBF58476D1CE4E5B9 +
               static_cast<uint64_t>(training.rank.rank) * 0x94D049BB133111EB + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

double average_weight(double decay, int64_t number) {
  const auto t = static_cast<double>(number);
  return 1 - std::min(decay, (1 + t) / (10 + t));
}

bool DeviceStep::fits(const Training& training) {
  return training.rank.world == 1 && (training.device.is_cuda() || on_cpu_too);
}

DeviceStep::DeviceStep(Training& training)
    : training_(training),
      captures_(training.options.capture == "auto" && Captured::available(training.device)),
      stream_(training.device) {
  FlatParameters& flat = *training.flat;
  update_ = training.options.optimizer->update(training.optimizer, flat.values());
  const auto numbers = flat.values().options().dtype(at::kDouble);
  tensors_ = {.values = flat.values(),
              .grads = flat.grads(),
              .average = training.average,
              .loss = at::zeros({1}, numbers),
              .numbers = at::zeros({static_cast<int64_t>(FlatNumbers{}.size())}, numbers),
              .stats = at::zeros({3}, numbers)};
  seed_cell_ = at::zeros({1}, numbers.dtype(at::kLong));
  if (captures_) pool_ = std::make_unique<CapturePool>();
}

/// Recorded steps outlive their last run.
DeviceStep::~DeviceStep() {
  try {
    arrived(0);
  } catch (const std::exception&) {  // of the GPU: nothing runs on it any more
    missing_.clear();
  }
  NoiseScope::drop_cell();
}

at::Tensor DeviceStep::on_device(const at::Tensor& host) const {
  return host.to(training_.device, /*non_blocking=*/true);
}

/// Pinned memory is kept by torch until the copy is done.
void DeviceStep::send_numbers(const StepResult& result) {
  const int64_t number = training_.state.step + 1;
  const FlatNumbers numbers = flat_numbers(update_, 1 / std::max(1.0, static_cast<double>(result.count)), result.rate,
                                           number, average_weight(training_.options.ema_decay, number));
  const auto host = host_tensor(tensors_.numbers.sizes(), training_.device.is_cuda());
  std::memcpy(host.data_ptr<double>(), numbers.data(), sizeof(numbers));
  tensors_.numbers.copy_(host, /*non_blocking=*/true);
}

void DeviceStep::begin() {
  training_.flat->zero_gradients();
  tensors_.loss.zero_();
}

/// Forward and backward pass of one batch; returns its count.
int64_t DeviceStep::add(const std::function<Loss()>& compute_loss) {
  Loss loss;
  {
    const Autocast autocast(training_.device, training_.options.bfloat16());
    loss = compute_loss();
  }
  if (!loss.sum.defined()) return loss.count;
  {
    const at::NoGradGuard no_grad;
    tensors_.loss.add_(loss.shown.defined() ? loss.shown : loss.sum);
  }
  loss.sum.backward();
  return loss.count;
}

void DeviceStep::finish() {
  training_.flat->gather_gradients();  // gradients of recorded steps stay where they are
  flat_step(update_, tensors_, training_.options.clip_norm);
}

void DeviceStep::compute(const Share& share, const TaskInput& input, const at::Tensor& buffer) {
  begin();
  add([&] { return training_.task->loss(share, input, buffer); });
  finish();
}

StepResult DeviceStep::enqueue() {
  const TrainOptions& options = training_.options;
  const TrainState& state = training_.state;
  ++steps_;
  torch::manual_seed(step_seed(training_, state.step));
  StepResult out;
  out.rate = options.lr * training_.schedule->factor(state.step + 1);
  const int64_t first = state.position * options.accumulate,
                last = std::min(first + options.accumulate, training_.task->batches(state.epoch));
  Share share{state.epoch, first, training_.rank.rank, training_.rank.world};
  if (const auto input = options.accumulate == 1 ? training_.task->input(share) : nullptr) {
    out.count = input->count;
    send_numbers(out);
    training_.task->seed(share, seed_cell_);
    run(share, *input);
    return out;
  }
  begin();
  for (; share.batch < last; ++share.batch) out.count += add([&] { return training_.task->loss(share); });
  send_numbers(out);
  finish();
  return out;
}

void DeviceStep::run(const Share& share, const TaskInput& input) {
  if (!captures_) return run_live(share, input, nullptr);
  Shape& shape = shapes_[input.shape];
  shape.used = steps_;
  if (!shape.graph && (shape.live || shape.seen < kLiveFirst || !record(share, input, shape))) try {
      return run_live(share, input, &shape);
    } catch (const std::exception& error) {  // torch may not be usable after it could not record
      check(remark_.empty(), "train: ", remark_, "; then it failed: ", error.what(),
            ". Go on with train.capture=false");
      throw;
    }
  shape.buffer.copy_(input.buffer, /*non_blocking=*/true);
  shape.graph->replay();
  ++replayed_;
}

void DeviceStep::run_live(const Share& share, const TaskInput& input, Shape* shape) {
  const uint64_t before = NoiseScope::plain_seeds();
  compute(share, input, on_device(input.buffer));
  if (shape == nullptr) return;
  ++shape->seen;
  if (NoiseScope::plain_seeds() != before) shape->live = true;
}

/// Returns whether the step of this shape was recorded.
bool DeviceStep::record(const Share& share, const TaskInput& input, Shape& shape) {
  if (!Captured::has_free_memory(kFreeShare)) return false;
  if (graphs_ == kMaxGraphs) drop_oldest();
  shape.buffer = at::empty_like(input.buffer, at::TensorOptions(training_.device).pinned_memory(false));
  auto graph = std::make_unique<Captured>(*pool_);
  const std::string failed = graph->record([&] { compute(share, input, shape.buffer); });
  if (!failed.empty()) {
    captures_ = false;
    remark_ = "steps run live: one could not be recorded: " + failed;
    return false;
  }
  shape.graph = std::move(graph);
  ++graphs_;
  return true;
}

/// Drops the recorded step that was not used for longest, when the GPU is done with it.
void DeviceStep::drop_oldest() {
  Shape* oldest = nullptr;
  for (auto& [sizes, shape] : shapes_)
    if (shape.graph && (oldest == nullptr || shape.used < oldest->used)) oldest = &shape;
  if (oldest == nullptr) return;
  while (!missing_.empty() && missing_.back().done && !missing_.back().done->query())
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  oldest->graph.reset();
  oldest->buffer.reset();
  oldest->seen = 0;
  --graphs_;
}

void DeviceStep::expect(const StepResult& result, const Share& first) {
  const bool gpu = training_.device.is_cuda();
  Missing next{result, first, host_tensor(tensors_.stats.sizes(), gpu), nullptr};
  next.stats.copy_(tensors_.stats, /*non_blocking=*/true);
  if (gpu) {
    next.done = std::make_unique<c10::Event>(training_.device.type());
    next.done->record(c10::impl::VirtualGuardImpl(training_.device.type()).getStream(training_.device));
  }
  missing_.push_back(std::move(next));
}

std::vector<std::pair<StepResult, Share>> DeviceStep::arrived(size_t missing) {
  std::vector<std::pair<StepResult, Share>> all;
  while (!missing_.empty()) {
    Missing& next = missing_.front();
    if (!next.done && missing_.size() <= missing) return all;  // on the CPU: as late as on the slowest GPU
    while (next.done && !next.done->query()) {
      if (missing_.size() <= missing) return all;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    const double* stats = next.stats.data_ptr<double>();
    next.result.loss = stats[0];
    next.result.norm = stats[1];
    all.emplace_back(next.result, next.first);
    missing_.pop_front();
  }
  return all;
}

void DeviceStep::repeat(const StepResult& result, const Share& first) {
  torch::manual_seed(step_seed(training_, result.step - 1));
  begin();
  Share share = first;
  const int64_t last = std::min(first.batch + training_.options.accumulate, training_.task->batches(first.epoch));
  for (; share.batch < last; ++share.batch) add([&] { return training_.task->loss(share); });
  training_.flat->gather_gradients();
}

}  // namespace heed
