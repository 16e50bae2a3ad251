#include "heed/train/train_report.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include <ATen/Parallel.h>

#include "heed/version.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string rounded(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace

void TrainReport::open_records(const std::string& folder) {
  records_ = std::make_unique<Records>(folder);
}

void TrainReport::open_log(const std::string& folder) {
  const auto show = [this](const std::string& line) {
    if (!quiet_) bar_.log(line);
  };
  log_ = std::make_unique<Log>(folder, show);
}

RecordSizes TrainReport::record_sizes() const {
  return {records_->metrics.size(), records_->events.size()};
}

void TrainReport::truncate_records(const RecordSizes& sizes) {
  if (!records_) return;
  records_->metrics.truncate_to(sizes.metrics);
  records_->events.truncate_to(sizes.events);
}

void TrainReport::log(const std::string& line) {
  if (log_) log_->line(line);
}

void TrainReport::log_start(const Training& training, bool resumed) {
  const TrainState& state = training.state;
  std::ostringstream text;
  text << (resumed ? "going on with " : "training ") << training.options.folder << ": " << training.flat->count()
       << " parameters, " << training.device << ", " << at::get_num_threads()
       << (at::get_num_threads() == 1 ? " thread" : " threads");
  if (training.rank.world > 1) text << ", " << training.rank.world << " processes";
  if (resumed) text << ", from step " << state.step << (state.done ? ", where it was finished" : "");
  if (training.options.bfloat16()) text << ", bfloat16";
  log(text.str());
  for (const auto& line : {training.task->attention_path(), training.task->remarks()})
    if (!line.empty()) log(line);
}

void TrainReport::record_step(Training& training, const StepResult& result, int64_t expected_steps) {
  TrainState& state = training.state;
  state.loss += result.loss * static_cast<double>(result.count);
  state.count += static_cast<double>(result.count);
  count_ += result.count;
  if (!training.is_main()) return;
  const std::string unit = training.task->unit();
  if (!quiet_)
    bar_.update({.epoch = result.epoch + 1,
                 .epochs = training.options.max_epochs,
                 .step = result.step,
                 .steps = expected_steps,
                 .loss = result.loss,
                 .count = count_,
                 .unit = unit});
  if (result.step % training.options.log_every != 0) return;
  const double loss = state.loss / std::max(1.0, state.count);
  records_->metrics.write(Json{{"step", result.step},
                               {"epoch", result.epoch},
                               {"loss", loss},
                               {"norm", result.norm},
                               {"lr", result.rate},
                               {unit, state.count},
                               {unit + "_per_second", bar_.count_per_second()},
                               {"seconds", training.seconds()}});
  records_->events.write(result.step, {{"train/loss", loss}, {"train/norm", result.norm}, {"train/lr", result.rate}},
                         Log::wall_clock());
  state.loss = state.count = 0;
}

void TrainReport::record_figures(const Training& training, const Figures& figures, bool best) {
  const TrainState& state = training.state;
  Json line{{"step", state.step}, {"epoch", state.epoch}, {"seconds", training.seconds()}};
  if (state.count > 0) line["loss"] = state.loss / state.count;  // since the last line
  std::vector<std::pair<std::string, double>> scalars;
  std::string text = "step " + std::to_string(state.step) + ", epoch " + std::to_string(state.epoch) + ", dev";
  for (const auto& [name, value] : figures) {
    line["dev_" + name] = value;
    scalars.emplace_back("dev/" + name, value);
    text += (scalars.size() == 1 ? " " : ", ") + name + " " + rounded(value, 2);
  }
  records_->metrics.write(line);
  records_->events.write(state.step, scalars, Log::wall_clock());
  log(text + (best ? " (best)" : "") + ", " + rounded(training.seconds(), 0) + " s");
}

Json run_results(const Training& training, double train_seconds) {
  const TrainState& state = training.state;
  const std::string unit = training.task->unit();
  const double rate = state.step_seconds > 0 ? state.total_count / state.step_seconds : 0;
  Json results{{"run", training.options.folder},
               {"mechanism", training.task->mechanism()},
               {"step", state.step},
               {"best_step", state.best_step},
               {"epochs", state.epoch},
               {"train_seconds", train_seconds},
               {"train_" + unit, static_cast<int64_t>(state.total_count)},
               {unit + "_per_second", rate},
               {"parameters", training.flat->count()},
               {"device", training.device.str()},
               {"seed", training.options.seed},
               {"precision", training.options.bfloat16() ? "bfloat16" : "float"},
               {"threads", at::get_num_threads()},
               {"processes", training.rank.world},
               {"peak_memory", training.peak_memory()},
               {"heed", std::string(kVersion)},
               {"commit", std::string(commit())},
               {"data", training.task->data_hashes()}};
  results["tokens_per_second"] = rate * training.task->tokens_per_unit();
  return results;
}

}  // namespace heed
