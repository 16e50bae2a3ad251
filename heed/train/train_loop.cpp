#include "heed/train/train_loop.h"

#include <algorithm>
#include <cmath>
#include <csignal>

#include <torch/utils.h>

#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

/// Replaces the weights by their average during its lifetime, with the model in evaluation mode.
class AverageScope {
 public:
  explicit AverageScope(Training& training) : training_(training) {
    training_.task->model().eval();
    if (training_.average.defined()) {
      own_ = training_.flat->values().clone();
      training_.flat->values().copy_(training_.average);
    }
  }
  ~AverageScope() {
    if (own_.defined()) training_.flat->values().copy_(own_);
    training_.task->model().train();
  }
  AverageScope(const AverageScope&) = delete;
  AverageScope& operator=(const AverageScope&) = delete;

 private:
  Training& training_;
  at::Tensor own_;
};

}  // namespace

int TrainLoop::run(const InterruptScope& interrupt) {
  TrainState& state = training_.state;
  training_.started = Training::Clock::now();
  expected_steps_ = training_.expected_steps();
  if (validation_due()) {  // the run was stopped during a validation
    validate();
    save();
  }
  if (DeviceStep::fits(training_)) device_step_ = std::make_unique<DeviceStep>(training_);
  while (!state.done) {
    step();
    const bool due = validation_due();
    if (due) validate();
    const bool interrupted = training_.processes->any(interrupt.asked());
    const int signal = interrupt.asked() ? interrupt.signal() : SIGINT;
    if (interrupted || state.done || due || state.step % training_.options.checkpoint_every == 0) save();
    if (interrupted) return signal;
  }
  return 0;
}

/// One step, or what a GPU is to do in it; then reports what is known of the steps so far.
void TrainLoop::step() {
  const auto began = Training::Clock::now();
  TrainState& state = training_.state;
  if (device_step_) {
    const Share first{state.epoch, state.position * training_.options.accumulate, training_.rank.rank,
                      training_.rank.world};
    StepResult result = device_step_->enqueue();
    go_on(result);
    device_step_->expect(result, first);
    state.step_seconds += Training::seconds_since(began);
    report_arrived(DeviceStep::kMaxMissing);
    if (!device_step_->remark().empty() && !remarked_) report_.log(device_step_->remark());
    remarked_ = !device_step_->remark().empty();
    return;
  }
  StepResult result = step_of_all();
  state.step_seconds += Training::seconds_since(began);
  go_on(result);
  report_.record_step(training_, result, expected_steps_);
}

/// The state after a step.
void TrainLoop::go_on(StepResult& result) {
  TrainState& state = training_.state;
  state.total_count += static_cast<double>(result.count);
  ++state.step;
  if (++state.position == training_.steps_of_epoch(state.epoch)) {
    ++state.epoch;
    state.position = 0;
  }
  result.step = state.step;
  result.epoch = state.epoch;
}

/// Reports steps of a GPU in their order, until at most `missing` are not yet known.
void TrainLoop::report_arrived(size_t missing) {
  if (!device_step_) return;
  const auto began = Training::Clock::now();
  const auto all = device_step_->arrived(missing);
  training_.state.step_seconds += Training::seconds_since(began);
  for (const auto& [result, first] : all) {
    if (!std::isfinite(result.loss) || !std::isfinite(result.norm)) {
      device_step_->repeat(result, first);
      diverged(first, result);
    }
    report_.record_step(training_, result, expected_steps_);
  }
}

/// Forward and backward pass, sum over processes, optimizer step.
StepResult TrainLoop::step_of_all() {
  const TrainOptions& options = training_.options;
  const TrainState& state = training_.state;
  FlatParameters& flat = *training_.flat;
  flat.zero_gradients();
  torch::manual_seed(step_seed(training_, state.step));
  double loss = 0, count = 0;
  Share share{state.epoch, 0, training_.rank.rank, training_.rank.world};
  const int64_t first = state.position * options.accumulate,
                last = std::min(first + options.accumulate, training_.task->batches(state.epoch));
  for (share.batch = first; share.batch < last; ++share.batch) {
    const Loss own = forward_and_backward(share);
    if (own.sum.defined()) loss += (own.shown.defined() ? own.shown : own.sum).item<double>();
    count += static_cast<double>(own.count);
  }
  const auto totals = training_.processes->sum(std::vector<double>{loss, count});
  if (training_.rank.world > 1) {
    flat.gather_gradients();
    training_.processes->sum({flat.grads()});
  }
  StepResult out;
  out.count = static_cast<int64_t>(totals[1]);
  out.step = state.step + 1;
  out.rate = options.lr * training_.schedule->factor(out.step);
  update(out, totals[0]);
  share.batch = first;
  if (!std::isfinite(out.loss) || !std::isfinite(out.norm)) {
    flat.gather_gradients();
    diverged(share, out);
  }
  return out;
}

/// Clipping, optimizer and moving average; sets loss and norm of the result. Nothing changes if they are not finite.
void TrainLoop::update(StepResult& result, double loss) {
  const TrainOptions& options = training_.options;
  FlatParameters& flat = *training_.flat;
  const FlatUpdate rule = options.optimizer->update(training_.optimizer, flat.values());
  const double scale = 1 / std::max(1.0, static_cast<double>(result.count));
  FlatNumbers numbers =
      flat_numbers(rule, scale, result.rate, result.step, average_weight(options.ema_decay, result.step));
  const auto on_device = [&](double* first, size_t size) {
    return at::from_blob(first, {static_cast<int64_t>(size)}, at::kDouble).to(flat.values().device());
  };
  FlatTensors tensors{.values = flat.values(),
                      .grads = flat.grads(),
                      .average = training_.average,
                      .loss = on_device(&loss, 1),
                      .numbers = on_device(numbers.data(), numbers.size()),
                      .stats = at::zeros({3}, flat.values().options().dtype(at::kDouble))};
  if (flat.values().device().is_cpu())
    tensors.parts = flat.gradients_of_parts();
  else
    flat.gather_gradients();
  flat_step(rule, tensors, options.clip_norm);
  const auto stats = tensors.stats.cpu();
  result.loss = stats.data_ptr<double>()[0];
  result.norm = stats.data_ptr<double>()[1];
}

Loss TrainLoop::forward_and_backward(const Share& share) {
  Loss loss;
  {
    const Autocast autocast(training_.device, training_.options.bfloat16());
    loss = training_.task->loss(share);
  }
  if (loss.sum.defined()) loss.sum.backward();
  return loss;
}

void TrainLoop::diverged(const Share& share, const StepResult& result) {
  report_.clear_bar();
  const TrainOptions& options = training_.options;
  const std::string where = training_.flat->not_finite();
  fail("train: at step ", result.step, " the loss is ", result.loss, " and the norm of the gradients ", result.norm,
       " (", training_.task->describe(share), where.empty() ? "" : "; first in " + where,
       "). The last checkpoint is whole; try a lower train.lr (now ", options.lr,
       "), a longer warm-up in train.schedule, a smaller train.clip_norm (now ", options.clip_norm,
       options.bfloat16() ? "), train.precision=float" : ")", ", or look at these lines of the data");
}

bool TrainLoop::validation_due() const {
  const TrainState& state = training_.state;
  if (state.step == 0 || state.validated == state.step) return false;
  const int64_t every = training_.options.validate_every;
  const bool regular = every > 0 ? state.step % every == 0 : state.position == 0;
  return regular || training_.limit_reached();
}

/// Rank 0 validates while the others wait without timeout. A checkpoint is written first: if the validation is
/// interrupted, a resumed run begins with it.
void TrainLoop::validate() {
  TrainState& state = training_.state;
  report_arrived(0);
  const auto received = training_.processes->from_first("validate", [&] {
    callbacks_.checkpoint();
    callbacks_.keep_last();
    state.validated = state.step;
    const AverageScope averaged(training_);
    const double score = validated_score();
    return std::vector<double>{training_.stopping->exhausted() ? 1.0 : 0.0, score};
  });
  state.validated = state.step;
  training_.task->model().train();
  training_.schedule->validated(received[1]);
  state.done = received[0] > 0 || training_.limit_reached();
}

/// Validates, keeps the weights if they are the best, and reports. Returns the score.
double TrainLoop::validated_score() {
  const Figures figures = training_.task->validate();
  const double score = training_.task->score(figures);
  const bool best = training_.stopping->validated(score);
  if (best) {
    training_.state.best_step = training_.state.step;
    callbacks_.keep_model();
  }
  report_.record_figures(training_, figures, best);
  return score;
}

void TrainLoop::save() {
  report_arrived(0);
  training_.processes->wait_for_first("write the checkpoint", callbacks_.checkpoint);
}

}  // namespace heed
