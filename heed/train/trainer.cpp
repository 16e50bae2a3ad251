#include "heed/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include "heed/base/shell.h"
#include "heed/base/version.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/saved_model.h"
#include "heed/models/model_memory.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/model_file.h"
#include "heed/train/early_stopping.h"
#include "heed/train/flat_parameters.h"
#include "heed/train/processes.h"
#include "heed/train/run/checkpoint.h"
#include "heed/train/run/events.h"
#include "heed/train/run/interrupt.h"
#include "heed/train/run/log.h"
#include "heed/train/run/metrics_log.h"
#include "heed/train/run/progress.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/train_options.h"

namespace heed {

/// The state of a run in addition to its tensors.
struct TrainState {
  int64_t step = 0, epoch = 0, position = 0;  // completed steps; current epoch; completed steps of it
  double seconds = 0;                         // of training before this start
  double loss = 0, count = 0;                 // since the last line of metrics
  double tokens = 0, step_seconds = 0;        // of all steps; without validations and checkpoints
  int64_t best_step = -1, validated = -1;     // steps of the best and of the last validation
  bool done = false;                          // training is finished
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrainState, step, epoch, position, seconds, loss, count, tokens, step_seconds,
                                   best_step, validated, done)

/// Checks type and range of each field. The caller checks `position`, because it knows the batches of the epoch.
static TrainState read_train_state(const StateFields& fields) {
  TrainState state;
  state.step = fields.integer("step");
  state.epoch = fields.integer("epoch", 0, int64_t{1} << 40);
  state.position = fields.integer("position");
  state.seconds = fields.number("seconds");
  state.loss = fields.number("loss");
  state.count = fields.number("count");
  state.tokens = fields.number("tokens");
  state.step_seconds = fields.number("step_seconds");
  state.best_step = fields.integer("best_step", -1, state.step);
  state.validated = fields.integer("validated", -1, state.step);
  state.done = fields.flag("done");
  if (state.seconds < 0) fields.refuse("seconds", "0 or more");
  if (state.count < 0) fields.refuse("count", "0 or more");
  if (state.tokens < 0) fields.refuse("tokens", "0 or more");
  if (state.step_seconds < 0) fields.refuse("step_seconds", "0 or more");
  return state;
}

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string rounded(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

at::Device chosen_device(const Settings& train, const std::string& word, int local_rank) {
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

/// A seed for each (seed, step, rank): torch's generators are seeded with it before every step.
uint64_t mixed(uint64_t seed, uint64_t step, uint64_t rank) {
  uint64_t x = seed * 0x9E3779B97F4A7C15 + step * 0xBF58476D1CE4E5B9 + rank * 0x94D049BB133111EB + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// All values by dotted path.
std::map<std::string, std::string> flattened(const Setting& setting, const std::string& path = "") {
  if (setting.form == Setting::Form::scalar) return {{path, setting.text}};
  std::map<std::string, std::string> all;
  for (size_t i = 0; i < setting.items.size(); ++i) {
    const std::string name = i < setting.names.size() ? setting.names[i] : std::to_string(i);
    all.merge(flattened(setting.items[i], path.empty() ? name : path + "." + name));
  }
  return all;
}

/// The append-only files of a run.
struct Records {
  explicit Records(const std::string& folder) : metrics(folder), events(folder) {}
  MetricsLog metrics;
  Events events;
};

class Trainer {
 public:
  Trainer(const Settings& recipe, const TrainCall& call)
      : call_(call),
        options_(read_train_options(recipe)),
        process_(rank_from_environment()),
        device_(chosen_device(recipe.at("train"), options_.device, process_.local_rank)),
        recipe_(recipe) {}

  TrainResult run() {
    check(!call_.resume || !call_.force,
          "train: got --resume and --force, expected one of them; --resume goes on with ",
          "a run, --force starts it over");
    processes_ = Processes::join(process_, device_);
    prepare_folder();
    make_task();
    flat_ = std::make_unique<FlatParameters>(task_->model());
    if (options_.ema_decay > 0) average_ = flat_->values().clone();
    expected_steps_ = expected_steps();
    try {
      schedule_ = Schedule::make(options_.schedule_spec, {.steps = expected_steps_, .better = Better::higher});
    } catch (const Error& error) {
      recipe_.at("train").refuse("schedule", "is '", options_.schedule_spec, "' for ", expected_steps_,
                                 " steps: ", error.what());
    }
    stopping_ = std::make_unique<EarlyStopping>(options_.patience, Better::higher);
    open_records();
    if (call_.resume) {
      const auto changed = changes();
      restore();
      for (const auto& line : changed) log(line);
      if (main()) write_atomically(options_.folder + RunFolder::kRecipe, recipe_yaml(recipe_.resolved()));
      saved_.reset();
    }
    processes_->broadcast({flat_->values()});
    log_start();
    if (!state_.done) loop();
    processes_->barrier();  // the others need not wait for the evaluation
    if (!interrupted_) evaluate();
    return {options_.folder, interrupted_, signal_, state_.step, state_.epoch, seconds(), results_};
  }

  /// End of the message about a file that could not be written: the cure.
  std::string cure_of_write_error() {
    if (!log_ && !call_.resume)
      return "; nothing of the run was kept. Make space, or name another folder with run.dir=...";
    bar_.clear();
    return "; the last checkpoint is whole. Make space for the file, then go on with: " + resume_command();
  }

 private:
  struct StepResult {
    double loss = 0, norm = 0, rate = 0;
    int64_t count = 0;
  };

  /// Rank 0 locks the folder; if it refuses, all processes end with its message instead of waiting for it.
  void prepare_folder() {
    std::string refused;
    try {
      if (main())
        folder_ = call_.resume ? RunFolder::resume(options_.folder) : RunFolder::create(options_.folder, call_.force);
    } catch (const Error& error) {
      refused = error.what();
      if (process_.world == 1) throw;
    }
    refused = processes_->gather(refused).front();
    check(refused.empty(), refused);
    if (!call_.resume) return;
    saved_ = std::make_unique<Checkpoint>(load_checkpoint(options_.folder + RunFolder::kCheckpoint));
    config_md5_ = file_md5(options_.folder + RunFolder::kConfig);
    check(saved_->state.text("config") == config_md5_, options_.folder, RunFolder::kConfig, ": got md5 ", config_md5_,
          ", expected ", saved_->state.text("config"),
          " (noted in checkpoint.safetensors); it is damaged or of another run, restore it or start over with --force");
  }

  void make_task() {
    torch::manual_seed(static_cast<uint64_t>(options_.seed));
    const std::string name = read_task_name(recipe_);
    const bool gpu = device_.is_cuda();  // the model is only initialized in CPU memory
    const int copies =
        gpu ? 1 : (options_.optimizer_spec.rfind("sgd", 0) == 0 ? 3 : 4) + (options_.ema_decay > 0 ? 1 : 0);
    task_ = within_memory(recipe_.at("model"), copies, gpu ? "weights" : "weights, gradients and optimizer", [&] {
      return Task::Parts::make(name, recipe_, TaskEnvironment{options_.folder, device_, call_.resume, options_.seed});
    });
    recipe_.refuse_unread();
    task_->model().to(device_);
  }

  /// A new run is complete with its first checkpoint; only then is it published.
  void open_records() {
    if (!main()) return;
    if (!call_.resume) {
      write_atomically(folder_->path() + RunFolder::kRecipe, recipe_yaml(recipe_.resolved()));
      task_->write_files(folder_->path());
      config_md5_ = file_md5(folder_->path() + RunFolder::kConfig);
      records_ = std::make_unique<Records>(folder_->path());
      checkpoint();
      folder_->publish();
    }
    records_ = std::make_unique<Records>(options_.folder);
    const auto show = [this](const std::string& line) {
      if (!call_.quiet) bar_.log(line);
    };
    log_ = std::make_unique<Log>(options_.folder, show);
  }

  void log_start() {
    std::ostringstream text;
    text << (call_.resume ? "going on with " : "training ") << options_.folder << ": " << flat_->count()
         << " parameters, " << device_ << ", " << at::get_num_threads()
         << (at::get_num_threads() == 1 ? " thread" : " threads");
    if (process_.world > 1) text << ", " << process_.world << " processes";
    if (call_.resume) text << ", from step " << state_.step << (state_.done ? ", where it was finished" : "");
    if (options_.bfloat16()) text << ", bfloat16";
    log(text.str());
    for (const auto& line : {task_->attention_path(), task_->remarks()})
      if (!line.empty()) log(line);
  }

  /// Differences to the recipe in the checkpoint (recipe.yaml may have been edited since), one line per key. A change
  /// that would make it another run is an Error.
  std::vector<std::string> changes() const {
    const auto before = flattened(parse_recipe(saved_->state.text("recipe"), saved_->path).written()),
               now = flattened(recipe_.resolved().written());
    std::vector<std::string> lines;
    for (const auto& [key, value] : now) {
      const auto found = before.find(key);
      if (key == "run.dir" || key == "name" || (found != before.end() && found->second == value)) continue;
      const std::string was = found == before.end() ? "nothing" : found->second;
      const bool other_run = (key.rfind("data.", 0) == 0 && key != "data.root") || key == "train.batch_tokens" ||
                             key == "train.seed" || key == "train.accumulate" || key == "train.optimizer";
      check(!other_run, "recipe: ", key, " is ", value, ", but the run began with ", was,
            "; go on with that, or start over with --force");
      lines.push_back("changed: " + key + " " + was + " -> " + value);
    }
    return lines;
  }

  /// Compares the hashes of the data with those in the checkpoint.
  void check_same_data() {
    const StateFields before = saved_->state.object("data");
    const Json now = task_->data_hashes();
    for (const auto& [name, hash] : now.items()) {
      check(before.content().contains(name), "train: the recipe has ", name, ", which the run in ", options_.folder,
            " was not started with; go on with the recipe of the run, or start over with --force");
      check(before.text(name) == hash.get<std::string>(), "train: ", name, " has other text than the run in ",
            options_.folder, " was started with (md5 ", hash.get<std::string>(), ", expected ", before.text(name),
            "); restore it, or start over with --force");
    }
    check(now.size() == before.content().size(), "train: ", options_.folder, " was started with ",
          before.content().size(), " texts, this start has ", now.size(), "; restore them, or start over with --force");
  }

  void loop() {
    const InterruptScope interrupt;
    started_ = Clock::now();
    if (validation_due()) {  // the run was stopped during a validation
      validate();
      save();
    }
    while (!state_.done) {
      const auto began = Clock::now();
      const StepResult result = step();
      state_.step_seconds += seconds_since(began);
      state_.tokens += static_cast<double>(result.count);
      ++state_.step;
      if (++state_.position == steps_of_epoch(state_.epoch)) {
        ++state_.epoch;
        state_.position = 0;
      }
      record(result);
      const bool due = validation_due();
      if (due) validate();
      interrupted_ = processes_->any(interrupt.asked());
      signal_ = interrupt.asked() ? interrupt.signal() : SIGINT;
      if (interrupted_ || state_.done || due || state_.step % options_.checkpoint_every == 0) save();
      if (interrupted_) break;
    }
    bar_.clear();
    trained_seconds_ = seconds();
    if (interrupted_) log("stopped at step " + std::to_string(state_.step) + "; go on with: " + resume_command());
  }

  std::string resume_command() const {
    return call_.program + " --threads " + std::to_string(at::get_num_threads()) + " train --resume " +
           quoted_for_shell(options_.folder);
  }

  /// Forward and backward pass, sum over processes, optimizer step.
  StepResult step() {
    flat_->zero_gradients();
    torch::manual_seed(mixed(static_cast<uint64_t>(options_.seed), static_cast<uint64_t>(state_.step),
                             static_cast<uint64_t>(process_.rank)));
    double loss = 0, count = 0;
    Share share{state_.epoch, 0, process_.rank, process_.world};
    const int64_t first = state_.position * options_.accumulate,
                  last = std::min(first + options_.accumulate, task_->batches(state_.epoch));
    for (share.batch = first; share.batch < last; ++share.batch) {
      const Loss own = forward_and_backward(share);
      if (own.sum.defined()) loss += (own.shown.defined() ? own.shown : own.sum).item<double>();
      count += static_cast<double>(own.count);
    }
    flat_->gather_gradients();
    const auto totals = processes_->sum(std::vector<double>{loss, count});
    processes_->sum({flat_->grads()});
    StepResult out;
    out.count = static_cast<int64_t>(totals[1]);
    out.loss = totals[0] / std::max(1.0, totals[1]);
    auto& grads = flat_->grads();
    grads.div_(std::max(1.0, totals[1]));
    out.norm = grads.norm().item<double>();
    share.batch = first;
    if (!std::isfinite(out.loss) || !std::isfinite(out.norm)) diverged(share, out);
    if (options_.clip_norm > 0 && out.norm > options_.clip_norm) grads.mul_(options_.clip_norm / out.norm);
    out.rate = options_.lr * schedule_->factor(state_.step + 1);
    options_.optimizer->step(optimizer_, flat_->values(), grads, out.rate, state_.step + 1);
    move_average();
    return out;
  }

  Loss forward_and_backward(const Share& share) {
    Loss loss;
    {
      const Autocast autocast(device_, options_.bfloat16());
      loss = task_->loss(share);
    }
    if (loss.sum.defined()) loss.sum.backward();
    return loss;
  }

  /// The decay is smaller in the first steps, so that the random initial weights are soon forgotten.
  void move_average() {
    if (!average_.defined()) return;
    const auto t = static_cast<double>(state_.step + 1);
    average_.lerp_(flat_->values(), 1 - std::min(options_.ema_decay, (1 + t) / (10 + t)));
  }

  [[noreturn]] void diverged(const Share& share, const StepResult& result) {
    bar_.clear();
    const std::string where = flat_->not_finite();
    fail("train: at step ", state_.step + 1, " the loss is ", result.loss, " and the norm of the gradients ",
         result.norm, " (", task_->describe(share), where.empty() ? "" : "; first in " + where,
         "). The last checkpoint is whole; try a lower train.lr (now ", options_.lr,
         "), a longer warm-up in train.schedule, a smaller train.clip_norm (now ", options_.clip_norm,
         options_.bfloat16() ? "), train.precision=float" : ")", ", or look at these lines of the data");
  }

  void record(const StepResult& result) {
    state_.loss += result.loss * static_cast<double>(result.count);
    state_.count += static_cast<double>(result.count);
    tokens_ += result.count;
    if (!main()) return;
    if (!call_.quiet)
      bar_.update({.epoch = state_.epoch + 1,
                   .epochs = options_.max_epochs,
                   .step = state_.step,
                   .steps = expected_steps_,
                   .loss = result.loss,
                   .tokens = tokens_});
    if (state_.step % options_.log_every != 0) return;
    const double loss = state_.loss / std::max(1.0, state_.count);
    records_->metrics.write(Json{{"step", state_.step},
                                 {"epoch", state_.epoch},
                                 {"loss", loss},
                                 {"norm", result.norm},
                                 {"lr", result.rate},
                                 {task_->unit(), state_.count},
                                 {task_->unit() + "_per_second", bar_.tokens_per_second()},
                                 {"seconds", seconds()}});
    records_->events.write(state_.step, {{"train/loss", loss}, {"train/norm", result.norm}, {"train/lr", result.rate}},
                           Log::wall_clock());
    state_.loss = state_.count = 0;
  }

  bool validation_due() const {
    if (state_.step == 0 || state_.validated == state_.step) return false;
    const bool regular =
        options_.validate_every > 0 ? state_.step % options_.validate_every == 0 : state_.position == 0;
    return regular || limit_reached();
  }

  /// Rank 0 validates while the others wait without timeout. A checkpoint is written first: if the validation is
  /// interrupted, a resumed run begins with it.
  void validate() {
    const auto received = processes_->from_first("validate", [&] {
      checkpoint();
      state_.validated = state_.step;
      const WithAverage averaged(*this);
      const double score = record_figures(task_->validate());
      return std::vector<double>{stopping_->exhausted() ? 1.0 : 0.0, score};
    });
    state_.validated = state_.step;
    task_->model().train();
    schedule_->validated(received[1]);
    state_.done = received[0] > 0 || limit_reached();
  }

  void save() {
    processes_->wait_for_first("write the checkpoint", [&] { checkpoint(); });
  }

  /// Logs the metrics, saves the weights if they are the best, and returns the score.
  double record_figures(const Figures& figures) {
    Json line{{"step", state_.step}, {"epoch", state_.epoch}, {"seconds", seconds()}};
    if (state_.count > 0) line["loss"] = state_.loss / state_.count;  // since the last line
    std::vector<std::pair<std::string, double>> scalars;
    std::string text = "step " + std::to_string(state_.step) + ", epoch " + std::to_string(state_.epoch) + ", dev";
    for (const auto& [name, value] : figures) {
      line["dev_" + name] = value;
      scalars.emplace_back("dev/" + name, value);
      text += (scalars.size() == 1 ? " " : ", ") + name + " " + rounded(value, 2);
    }
    const double score = task_->score(figures);
    if (stopping_->validated(score)) {
      state_.best_step = state_.step;
      save_model(task_->model(), options_.folder, config_md5_, {{"step", std::to_string(state_.step)}});
      text += " (best)";
    }
    records_->metrics.write(line);
    records_->events.write(state_.step, scalars, Log::wall_clock());
    log(text + ", " + rounded(seconds(), 0) + " s");
    return score;
  }

  void checkpoint() {
    if (!main()) return;
    NamedTensors tensors{{"values", flat_->values()}};
    for (const auto& [name, tensor] : optimizer_) tensors["optimizer." + name] = tensor;
    if (average_.defined()) tensors["average"] = average_;
    TrainState now = state_;
    now.seconds = seconds();
    const nlohmann::json state{{"train_state", now},
                               {"metrics", records_->metrics.size()},
                               {"events", records_->events.size()},
                               {"schedule", schedule_->state()},
                               {"stopping", stopping_->state()},
                               {"task", task_->state()},
                               {"data", task_->data_hashes()},
                               {"recipe", recipe_yaml(recipe_.resolved())},
                               {"config", config_md5_},
                               {"average", average_.defined()},
                               {"threads", at::get_num_threads()},
                               {"world", process_.world},
                               {"device", at::DeviceTypeName(device_.type(), true)},
                               {"parameters", flat_->count()}};
    save_checkpoint(folder_->path() + RunFolder::kCheckpoint, tensors, state);
  }

  void restore() {
    const StateFields& state = saved_->state;
    const std::string& path = saved_->path;
    check(state.integer("parameters") == flat_->count(), path, " is of a model with ", state.integer("parameters"),
          " parameters, this one has ", flat_->count(), "; the recipe has changed. --force starts over");
    check(state.integer("threads") == at::get_num_threads(), "train: the run used ", state.integer("threads"),
          " threads, this start has ", at::get_num_threads(),
          "; sums would differ in their last bits. Resume with --threads ", state.integer("threads"));
    check(state.integer("world") == process_.world, "train: the run used ", state.integer("world"),
          " processes, this start has ", process_.world, "; sums would differ in their last bits. Start as many");
    check(state.text("device") == at::DeviceTypeName(device_.type(), true), "train: the run used the device ",
          state.text("device"), ", this start has ", at::DeviceTypeName(device_.type(), true),
          "; resume with train.device=", state.text("device"));
    check_same_data();
    state_ = read_train_state(state.object("train_state"));
    const int64_t last = steps_of_epoch(state_.epoch) - 1;
    state.object("train_state").integer("position", 0, last);
    restore_tensors();
    const auto &schedule = state.at("schedule"), &stopping = state.at("stopping"), &task = state.at("task");
    try {
      schedule_->restore(schedule);
      stopping_->restore(stopping);
      task_->set_state(task);
    } catch (const std::exception& error) {
      fail(path, ": ", error.what(), "; the file is damaged, restore it from a copy or start over with --force");
    }
    if (!limit_reached() && !stopping_->exhausted()) state_.done = false;  // the limits were raised
    if (!main()) return;
    records_->metrics.truncate_to(state.integer("metrics"));
    records_->events.truncate_to(state.integer("events"));
  }

  void restore_tensors() {
    const at::NoGradGuard no_grad;
    const std::string prefix = "optimizer.";
    std::set<std::string> expected{"values"};
    if (saved_->state.flag("average")) expected.insert("average");
    for (const auto& name : names_of_optimizer()) expected.insert(prefix + name);
    for (const auto& [name, tensor] : saved_->tensors)
      check(expected.count(name) > 0, saved_->path, ": got a tensor '", name.substr(0, 60), "', expected ",
            joined({expected.begin(), expected.end()}), "; restore the file, or start over with --force");
    for (const auto& name : expected) check_tensor(*saved_, name, flat_->values());
    for (const auto& [name, tensor] : saved_->tensors)
      if (name.rfind(prefix, 0) == 0) optimizer_[name.substr(prefix.size())] = tensor.to(device_);
    flat_->values().copy_(saved_->tensors.at("values"));
    if (average_.defined()) average_.copy_(saved_->tensors.at(expected.count("average") > 0 ? "average" : "values"));
  }

  /// Names of the state tensors of the optimizer, determined by a step on one value.
  std::vector<std::string> names_of_optimizer() const {
    std::vector<std::string> names;
    if (state_.step == 0) return names;
    Optimizer::State state;
    auto value = at::zeros({1});
    options_.optimizer->step(state, value, at::zeros({1}), 0, 1);
    for (const auto& [name, tensor] : state) names.push_back(name);
    return names;
  }

  /// Evaluates the best weights and writes results.json.
  void evaluate() {
    if (!main() || !exists(options_.folder + RunFolder::kModel)) return;
    load_model(task_->model(), options_.folder);
    task_->model().eval();
    const double rate = state_.step_seconds > 0 ? state_.tokens / state_.step_seconds : 0;
    results_ = Json{{"run", options_.folder},
                    {"mechanism", task_->mechanism()},
                    {"step", state_.step},
                    {"best_step", state_.best_step},
                    {"epochs", state_.epoch},
                    {"train_seconds", trained_seconds_ > 0 ? trained_seconds_ : state_.seconds},
                    {"train_" + task_->unit(), static_cast<int64_t>(state_.tokens)},
                    {task_->unit() + "_per_second", rate},
                    {"parameters", flat_->count()},
                    {"device", device_.str()},
                    {"seed", options_.seed},
                    {"precision", options_.bfloat16() ? "bfloat16" : "float"},
                    {"threads", at::get_num_threads()},
                    {"processes", process_.world},
                    {"heed", std::string(kVersion)}};
    results_.update(task_->evaluate(options_.folder));
    write_atomically(options_.folder + RunFolder::kResults, results_.dump(2) + "\n");
  }

  int64_t steps_of_epoch(int64_t epoch) {
    return (task_->batches(epoch) + options_.accumulate - 1) / options_.accumulate;
  }
  /// An estimate: epochs differ by a batch or two.
  int64_t expected_steps() {
    const int64_t by_epochs = options_.max_epochs * steps_of_epoch(0);
    return options_.max_steps > 0 && (options_.max_epochs == 0 || options_.max_steps < by_epochs) ? options_.max_steps
                                                                                                  : by_epochs;
  }
  bool limit_reached() const {
    return (options_.max_epochs > 0 && state_.epoch >= options_.max_epochs) ||
           (options_.max_steps > 0 && state_.step >= options_.max_steps);
  }
  double seconds() const { return state_.seconds + seconds_since(started_); }
  bool main() const { return process_.rank == 0; }
  void log(const std::string& line) {
    if (log_) log_->line(line);
  }

  /// Replaces the weights by their average during its lifetime, with the model in evaluation mode.
  class WithAverage {
   public:
    explicit WithAverage(Trainer& trainer) : trainer_(trainer) {
      trainer_.task_->model().eval();
      if (trainer_.average_.defined()) {
        own_ = trainer_.flat_->values().clone();
        trainer_.flat_->values().copy_(trainer_.average_);
      }
    }
    ~WithAverage() {
      if (own_.defined()) trainer_.flat_->values().copy_(own_);
      trainer_.task_->model().train();
    }
    WithAverage(const WithAverage&) = delete;
    WithAverage& operator=(const WithAverage&) = delete;

   private:
    Trainer& trainer_;
    at::Tensor own_;
  };

  TrainCall call_;
  TrainOptions options_;
  ProcessRank process_;
  at::Device device_;
  Settings recipe_;
  std::shared_ptr<Processes> processes_;
  std::shared_ptr<Task> task_;
  std::unique_ptr<FlatParameters> flat_;
  Optimizer::State optimizer_;
  at::Tensor average_;
  std::shared_ptr<Schedule> schedule_;
  std::unique_ptr<EarlyStopping> stopping_;
  Progress bar_;
  int64_t tokens_ = 0;  // since this start
  int64_t expected_steps_ = 0;
  std::unique_ptr<RunFolder> folder_;  // on rank 0 only
  std::unique_ptr<Checkpoint> saved_;  // the checkpoint to resume from; null afterwards
  std::string config_md5_;             // of config.json
  std::unique_ptr<Log> log_;
  std::unique_ptr<Records> records_;
  TrainState state_;
  bool interrupted_ = false;
  int signal_ = 0;
  double trained_seconds_ = 0;
  Json results_;
  Clock::time_point started_ = Clock::now();
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
