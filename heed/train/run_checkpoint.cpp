#include "heed/train/run_checkpoint.h"

#include <map>
#include <set>

#include <ATen/Parallel.h>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/saved_model.h"
#include "heed/train/run/run_folder.h"

namespace heed {
namespace {

constexpr const char *kOptimizerPrefix = "optimizer.", *kValues = "values", *kAverage = "average";

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

/// Whether another value of this key makes another run.
bool makes_another_run(const Training& training, const std::string& key) {
  return training.task->is_fixed(key) || key == "train.seed" || key == "train.accumulate" || key == "train.optimizer";
}

/// Names of the state tensors of the optimizer, determined by a step on one value.
std::vector<std::string> names_of_optimizer(const Training& training) {
  std::vector<std::string> names;
  if (training.state.step == 0) return names;
  Optimizer::State state;
  auto value = at::zeros({1});
  training.options.optimizer->step(state, value, at::zeros({1}), 0, 1);
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

std::string device_name(const Training& training) {
  return at::DeviceTypeName(training.device.type(), true);
}

}  // namespace

void write_run_checkpoint(const std::string& path, const Training& training, const RecordSizes& records,
                          const std::string& config_md5) {
  NamedTensors tensors{{kValues, training.flat->values()}};
  for (const auto& [name, tensor] : training.optimizer) tensors[kOptimizerPrefix + name] = tensor;
  if (training.average.defined()) tensors[kAverage] = training.average;
  TrainState now = training.state;
  now.seconds = training.seconds();
  now.peak_memory = training.peak_memory();
  const nlohmann::json state{{"train_state", as_json(now)},
                             {"metrics", records.metrics},
                             {"events", records.events},
                             {"schedule", training.schedule->state()},
                             {"stopping", training.stopping->state()},
                             {"task", training.task->state()},
                             {"data", training.task->data_hashes()},
                             {"expected_steps", training.expected_steps()},
                             {"tokens_per_unit", training.task->tokens_per_unit()},
                             {"recipe", recipe_yaml(training.recipe.resolved())},
                             {"config", config_md5},
                             {"average", training.average.defined()},
                             {"threads", at::get_num_threads()},
                             {"world", training.rank.world},
                             {"device", device_name(training)},
                             {"parameters", training.flat->count()}};
  save_checkpoint(path, tensors, state);
}

SavedRun::SavedRun(const std::string& folder)
    : folder_(folder),
      config_md5_(file_md5(folder + RunFolder::kConfig)),
      saved_(load_checkpoint(folder + RunFolder::kCheckpoint)) {
  const std::string expected = saved_.state.text("config");
  check(expected == config_md5_, folder_, RunFolder::kConfig, ": got md5 ", config_md5_, ", expected ", expected,
        " (noted in checkpoint.safetensors); it is damaged or of another run, restore it or start over with --force");
}

std::vector<std::string> SavedRun::changes(const Training& training) const {
  const auto before = flattened(parse_recipe(saved_.state.text("recipe"), saved_.path).written()),
             now = flattened(training.recipe.resolved().written());
  std::vector<std::string> lines;
  for (const auto& [key, value] : now) {
    const auto found = before.find(key);
    if (key == "run.dir" || key == "name" || (found != before.end() && found->second == value)) continue;
    const std::string was = found == before.end() ? "nothing" : found->second;
    check(!makes_another_run(training, key), "recipe: ", key, " is ", value, ", but the run began with ", was,
          "; go on with that, or start over with --force");
    lines.push_back("changed: " + key + " " + was + " -> " + value);
  }
  return lines;
}

/// What sums depend on in their last bits.
void SavedRun::check_same_machine(const Training& training) const {
  const StateFields& state = saved_.state;
  check(state.integer("parameters") == training.flat->count(), saved_.path, " is of a model with ",
        state.integer("parameters"), " parameters, this one has ", training.flat->count(),
        "; the recipe has changed. --force starts over");
  check(state.integer("threads") == at::get_num_threads(), "train: the run used ", state.integer("threads"),
        " threads, this start has ", at::get_num_threads(),
        "; sums would differ in their last bits. Resume with --threads ", state.integer("threads"));
  check(state.integer("world") == training.rank.world, "train: the run used ", state.integer("world"),
        " processes, this start has ", training.rank.world, "; sums would differ in their last bits. Start as many");
  check(state.text("device") == device_name(training), "train: the run used the device ", state.text("device"),
        ", this start has ", device_name(training), "; resume with train.device=", state.text("device"));
}

/// Compares the hashes of the data with those in the checkpoint.
void SavedRun::check_same_data(const Training& training) const {
  const StateFields before = saved_.state.object("data");
  const nlohmann::ordered_json now = training.task->data_hashes();
  for (const auto& [name, hash] : now.items()) {
    check(before.content().contains(name), "train: the recipe has ", name, ", which the run in ", folder_,
          " was not started with; go on with the recipe of the run, or start over with --force");
    check(before.text(name) == hash.get<std::string>(), "train: ", name, " is other data than the run in ", folder_,
          " was started with (md5 ", hash.get<std::string>(), ", expected ", before.text(name),
          "); restore it, or start over with --force");
  }
  check(now.size() == before.content().size(), "train: ", folder_, " was started with ", before.content().size(),
        " sets of data, this start has ", now.size(), "; restore them, or start over with --force");
}

void SavedRun::restore_tensors(Training& training) const {
  const at::NoGradGuard no_grad;
  const std::string prefix = kOptimizerPrefix;
  std::set<std::string> expected{kValues};
  if (saved_.state.flag("average")) expected.insert(kAverage);
  for (const auto& name : names_of_optimizer(training)) expected.insert(prefix + name);
  for (const auto& [name, tensor] : saved_.tensors)
    check(expected.count(name) > 0, saved_.path, ": got a tensor '", name.substr(0, 60), "', expected ",
          joined({expected.begin(), expected.end()}), "; restore the file, or start over with --force");
  for (const auto& name : expected) check_tensor(saved_, name, training.flat->values());
  for (const auto& [name, tensor] : saved_.tensors)
    if (name.rfind(prefix, 0) == 0) training.optimizer[name.substr(prefix.size())] = tensor.to(training.device);
  training.flat->values().copy_(saved_.tensors.at(kValues));
  if (training.average.defined())
    training.average.copy_(saved_.tensors.at(expected.count(kAverage) > 0 ? kAverage : kValues));
}

RecordSizes SavedRun::restore(Training& training) const {
  const StateFields& state = saved_.state;
  check_same_machine(training);
  check_same_data(training);
  training.state = read_train_state(state.object("train_state"));
  const int64_t last = training.steps_of_epoch(training.state.epoch) - 1;
  state.object("train_state").integer("position", 0, last);
  restore_tensors(training);
  const auto &schedule = state.at("schedule"), &stopping = state.at("stopping"), &task = state.at("task");
  try {
    training.schedule->restore(schedule);
    training.stopping->restore(stopping);
    training.task->set_state(task);
  } catch (const std::exception& error) {
    fail(saved_.path, ": ", error.what(), "; the file is damaged, restore it from a copy or start over with --force");
  }
  if (!training.limit_reached() && !training.stopping->exhausted()) training.state.done = false;  // limits were raised
  return {state.integer("metrics"), state.integer("events")};
}

}  // namespace heed
