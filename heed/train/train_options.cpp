#include "heed/train/train_options.h"

#include "heed/base/excerpt.h"
#include "heed/train/run_name.h"

namespace heed {
namespace {

constexpr double kMaxRate = 1000;  // of the learning rate; larger values overflow float weights

/// Calls `make`; an Error of it becomes an Error that names the key and its spec.
template <typename Make>
void check_spec(const Settings& settings, const std::string& key, const std::string& words, const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    settings.refuse(key, "is '", excerpt(words), "': ", error.what());
  }
}

/// The name of a run is the name of a folder directly below runs/; run.dir sets any other folder.
std::string read_name(const Settings& recipe) {
  std::string name = recipe.text("name", "unnamed");
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    recipe.refuse("name", "is '", excerpt(name), "', expected a name without /; run.dir names another folder");
  return name;
}

/// Refuses a schedule that does not fit max_steps, before any data is read.
void check_schedule(const Settings& train, const TrainOptions& o) {
  const int64_t steps = o.max_steps > 0 ? o.max_steps : int64_t{1} << 40;
  try {
    Schedule::make(o.schedule_spec, {.steps = steps});
  } catch (const Error& error) {
    if (o.max_steps == 0) train.refuse("schedule", "is '", excerpt(o.schedule_spec), "': ", error.what());
    train.refuse("schedule", "is '", excerpt(o.schedule_spec), "' for ", o.max_steps, " steps: ", error.what());
  }
}

}  // namespace

TrainOptions read_train_options(const Settings& recipe) {
  const Settings t = recipe.at("train"), run = recipe.at("run");
  TrainOptions o;
  o.folder = run.text("dir", "runs/" + read_name(recipe) + name_of_changes(recipe));
  o.max_epochs = t.integer("max_epochs", 20, 0, 1 << 20);
  o.max_steps = t.integer("max_steps", 0, 0, int64_t{1} << 40);
  if (o.max_epochs == 0 && o.max_steps == 0)
    t.refuse("max_epochs", "is 0 and train.max_steps too; expected one of them to say when to stop");
  o.seed = static_cast<uint64_t>(t.integer("seed", 1, 0, (int64_t{1} << 53) - 1));
  o.lr = t.number("lr", 1e-3, above(0), kMaxRate);
  o.optimizer_spec = t.text("optimizer", "adam");
  check_spec(t, "optimizer", o.optimizer_spec, [&] { o.optimizer = Catalogue<Optimizer>::make(o.optimizer_spec); });
  o.schedule_spec = t.text("schedule", "constant");
  check_schedule(t, o);
  o.clip_norm = t.number("clip_norm", 1, 0);
  o.ema_decay = t.number("ema_decay", 0, 0, below(1));
  o.accumulate = t.integer("accumulate", 1, 1, 1 << 20);
  o.validate_every = t.integer("validate_every", 0, 0);
  o.checkpoint_every = t.integer("checkpoint_every", 500, 1);
  o.log_every = t.integer("log_every", 50, 1);
  o.patience = t.integer("patience", 0, 0);
  o.bfloat16 = t.choice("precision", {"float", "bfloat16"}) == "bfloat16";
  o.device = t.text("device", "auto");
  return o;
}

}  // namespace heed
