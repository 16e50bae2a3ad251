#include "heed/train/training.h"

namespace heed {

nlohmann::json as_json(const TrainState& state) {
  return {{"step", state.step},
          {"epoch", state.epoch},
          {"position", state.position},
          {"seconds", state.seconds},
          {"loss", state.loss},
          {"count", state.count},
          {"tokens", state.total_count},  // the name of run format 3
          {"step_seconds", state.step_seconds},
          {"best_step", state.best_step},
          {"validated", state.validated},
          {"peak_memory", state.peak_memory},
          {"done", state.done}};
}

TrainState read_train_state(const StateFields& fields) {
  const auto amount = [&](const std::string& name) {
    const double value = fields.number(name);
    if (value < 0) fields.refuse(name, "0 or more");
    return value;
  };
  TrainState state;
  state.step = fields.integer("step");
  state.epoch = fields.integer("epoch", 0, int64_t{1} << 40);
  state.position = fields.integer("position");
  state.seconds = amount("seconds");
  state.loss = fields.number("loss");
  state.count = amount("count");
  state.total_count = amount("tokens");
  state.step_seconds = amount("step_seconds");
  state.best_step = fields.integer("best_step", -1, state.step);
  state.validated = fields.integer("validated", -1, state.step);
  if (fields.content().contains("peak_memory"))  // earlier versions did not write it
    state.peak_memory = static_cast<uint64_t>(fields.integer("peak_memory"));
  state.done = fields.flag("done");
  return state;
}

int64_t Training::steps_of_epoch(int64_t epoch) const {
  return (task->batches(epoch) + options.accumulate - 1) / options.accumulate;
}

int64_t Training::expected_steps() const {
  const int64_t by_epochs = options.max_epochs * steps_of_epoch(0);
  return options.max_steps > 0 && (options.max_epochs == 0 || options.max_steps < by_epochs) ? options.max_steps
                                                                                             : by_epochs;
}

bool Training::limit_reached() const {
  return (options.max_epochs > 0 && state.epoch >= options.max_epochs) ||
         (options.max_steps > 0 && state.step >= options.max_steps);
}

}  // namespace heed
