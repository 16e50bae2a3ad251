#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/saved_model.h"
#include "heed/models/model_memory.h"
#include "heed/torch_support/float_precision.h"
#include "heed/torch_support/model_file.h"
#include "heed/train/last_weights.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/run_checkpoint.h"
#include "heed/train/train_loop.h"
#include "heed/train/train_report.h"
#include "heed/train/training.h"

namespace heed {
namespace {

at::Device chosen_device(const Settings& train, const std::string& word, int local_rank) {
  use_float_in_cudnn();
  const bool cuda = torch::cuda::is_available();
  const at::Device own_gpu(at::kCUDA, static_cast<at::DeviceIndex>(local_rank));
  if (word == "auto") return cuda ? own_gpu : at::Device(at::kCPU);
  if (word == "cpu") return at::kCPU;
  const bool numbered = word.size() == 6 && word.rfind("cuda:", 0) == 0 && word[5] >= '0' && word[5] <= '9';
  if (word != "cuda" && !numbered) train.refuse("device", "is '", word, "', expected auto, cpu, cuda or cuda:1");
  if (!cuda) train.refuse("device", "is '", word, "', but torch finds no GPU here; expected cpu or auto");
  const at::Device device = word == "cuda" ? own_gpu : at::Device(word);
  if (device.index() >= static_cast<int>(torch::cuda::device_count()))
    train.refuse("device", "is '", word, "', but there are ", torch::cuda::device_count(), " GPUs here");
  return device;
}

Training training_of(const Settings& recipe) {
  TrainOptions options = read_train_options(recipe);
  const ProcessRank rank = rank_from_environment();
  const at::Device device = chosen_device(recipe.at("train"), options.device, rank.local_rank);
  return {.recipe = recipe, .options = std::move(options), .rank = rank, .device = device};
}

/// A score as in the log.
std::string score_text(double score) {
  std::ostringstream text;
  text << std::setprecision(4) << score;
  return text.str();
}

/// One call of train(): the run folder, the task, the loop, the evaluation.
class Trainer {
 public:
  Trainer(const Settings& recipe, const TrainCall& call)
      : call_(call), training_(training_of(recipe)), report_(call.quiet) {}

  TrainResult run() {
    check(!call_.resume || !call_.force,
          "train: got --resume and --force, expected one of them; --resume goes on with ",
          "a run, --force starts it over");
    Training& t = training_;
    t.processes = Processes::join(t.rank, t.device);
    prepare_folder();
    make_task();
    t.flat = std::make_unique<FlatParameters>(t.task->model());
    if (t.options.ema_decay > 0) t.average = t.flat->values().clone();
    make_schedule();
    t.stopping = std::make_unique<EarlyStopping>(t.options.patience, Better::higher);
    open_files();
    if (call_.resume) restore();
    t.processes->broadcast({t.flat->values()});
    report_.log_start(t, call_.resume);
    if (!t.state.done) loop();
    t.processes->barrier();  // the others need not wait for the evaluation
    const bool interrupted = signal_ != 0;
    if (!interrupted) evaluate();
    return {t.options.folder, interrupted, signal_, t.state.step, t.state.epoch, t.seconds(), results_};
  }

  /// End of the message about a file that could not be written: the cure.
  std::string cure_of_write_error() {
    if (!report_.has_log() && !call_.resume)
      return "; nothing of the run was kept. Make space, or name another folder with run.dir=...";
    report_.clear_bar();
    return "; the last checkpoint is whole. Make space for the file, then go on with: " + resume_command();
  }

 private:
  /// Rank 0 locks the folder; if it refuses, all processes end with its message instead of waiting for it.
  void prepare_folder() {
    const std::string& folder = training_.options.folder;
    std::string refused;
    try {
      if (training_.is_main())
        folder_ = call_.resume ? RunFolder::resume(folder) : RunFolder::create(folder, call_.force);
    } catch (const Error& error) {
      refused = error.what();
      if (training_.rank.world == 1) throw;
    }
    refused = training_.processes->gather(refused).front();
    check(refused.empty(), refused);
    if (!call_.resume) return;
    saved_ = std::make_unique<SavedRun>(folder);
    config_md5_ = saved_->config_md5();
  }

  void make_task() {
    const TrainOptions& o = training_.options;
    const Settings& recipe = training_.recipe;
    torch::manual_seed(static_cast<uint64_t>(o.seed));
    const std::string name = read_task_name(recipe);
    const bool gpu = training_.device.is_cuda();  // the model is only initialized in CPU memory
    const int copies = gpu ? 1 : (o.optimizer_spec.rfind("sgd", 0) == 0 ? 3 : 4) + (o.ema_decay > 0 ? 1 : 0);
    training_.task =
        within_memory(recipe.at("model"), copies, gpu ? "weights" : "weights, gradients and optimizer", [&] {
          return Task::Parts::make(name, recipe, TaskEnvironment{o.folder, training_.device, call_.resume, o.seed});
        });
    recipe.refuse_unread();
    training_.task->model().to(training_.device);
  }

  void make_schedule() {
    const std::string& spec = training_.options.schedule_spec;
    const int64_t steps = training_.expected_steps();
    try {
      training_.schedule = Schedule::make(spec, {.steps = steps, .better = Better::higher});
    } catch (const Error& error) {
      training_.recipe.at("train").refuse("schedule", "is '", spec, "' for ", steps, " steps: ", error.what());
    }
  }

  /// A new run is complete with its first checkpoint; only then is it published.
  void open_files() {
    if (!training_.is_main()) return;
    if (!call_.resume) {
      write_recipe(folder_->path());
      training_.task->write_files(folder_->path());
      config_md5_ = file_md5(folder_->path() + RunFolder::kConfig);
      report_.open_records(folder_->path());
      write_checkpoint();
      folder_->publish();
    }
    report_.open_records(training_.options.folder);
    report_.open_log(training_.options.folder);
  }

  void write_recipe(const std::string& folder) const {
    write_atomically(folder + RunFolder::kRecipe, recipe_yaml(training_.recipe.resolved()));
  }

  void write_checkpoint() {
    if (!training_.is_main()) return;
    write_run_checkpoint(folder_->path() + RunFolder::kCheckpoint, training_, report_.record_sizes(), config_md5_);
  }

  void restore() {
    const auto changed = saved_->changes(training_);
    report_.truncate_records(saved_->restore(training_));
    for (const auto& line : changed) report_.log(line);
    if (training_.is_main()) {
      write_recipe(training_.options.folder);
      last_weights().forget_after(training_.state.step);
    }
    saved_.reset();
  }

  void loop() {
    const InterruptScope interrupt;
    Training& t = training_;
    TrainLoop::Callbacks callbacks;
    callbacks.checkpoint = [this] { write_checkpoint(); };
    callbacks.keep_model = [this] { keep_model(); };
    callbacks.keep_last = [&] { last_weights().add(t.state.step, t.flat->values()); };
    signal_ = TrainLoop(t, report_, callbacks).run(interrupt);
    report_.clear_bar();
    trained_seconds_ = t.seconds();
    if (signal_ != 0)
      report_.log("stopped at step " + std::to_string(t.state.step) + "; go on with: " + resume_command());
  }

  void keep_model() {
    const Training& t = training_;
    save_model(t.task->model(), t.options.folder, config_md5_, {{"step", std::to_string(t.state.step)}});
  }

  LastWeights last_weights() const { return {training_.options.folder, training_.options.average_last}; }

  /// Keeps the mean of the weights at the last validations if it is better than the best of them. Gives the same when
  /// it is repeated.
  void keep_average() {
    Training& t = training_;
    const at::NoGradGuard no_grad;
    const auto mean = last_weights().mean(t.flat->values());
    if (!mean.defined()) return;
    const auto own = t.flat->values().clone();
    t.flat->values().copy_(mean);
    t.task->model().eval();
    const double score = t.task->score(t.task->validate());
    const bool better = std::isfinite(score) && (!t.stopping->has_best() || score > t.stopping->best());
    if (better) keep_model();
    t.flat->values().copy_(own);
    const auto count = std::min(last_weights().steps().size(), static_cast<size_t>(t.options.average_last));
    report_.log("the weights averaged over the last " + std::to_string(count) + " validations score " +
                score_text(score) + " on dev, the best " + score_text(t.stopping->best()) +
                (better ? ": kept the average" : ": kept the best"));
    results_["average_last"] = {{"validations", count}, {"score", score}, {"kept", better}};
  }

  std::string resume_command() const {
    return call_.program + " --threads " + std::to_string(at::get_num_threads()) + " train --resume " +
           quoted_for_shell(training_.options.folder);
  }

  /// Evaluates the best weights and writes results.json.
  void evaluate() {
    const std::string& folder = training_.options.folder;
    if (!training_.is_main() || !exists(folder + RunFolder::kModel)) return;
    results_ = run_results(training_, trained_seconds_ > 0 ? trained_seconds_ : training_.state.seconds);
    keep_average();
    load_model(training_.task->model(), folder);
    training_.task->model().eval();
    results_.update(training_.task->evaluate(folder));
    write_atomically(folder + RunFolder::kResults, results_.dump(2) + "\n");
  }

  TrainCall call_;
  Training training_;
  TrainReport report_;
  std::unique_ptr<RunFolder> folder_;  // on rank 0 only
  std::unique_ptr<SavedRun> saved_;    // the checkpoint to resume from; null afterwards
  std::string config_md5_;             // of config.json
  int signal_ = 0;                     // that stopped the loop
  double trained_seconds_ = 0;
  nlohmann::ordered_json results_;
};

}  // namespace

TrainResult train(const Settings& recipe, const TrainCall& call) {
  Trainer trainer(recipe, call);
  try {
    return trainer.run();
  } catch (const WriteError& error) {
    throw WriteError(error.what() + trainer.cure_of_write_error());
  }
}

}  // namespace heed
