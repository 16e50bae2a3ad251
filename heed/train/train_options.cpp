#include "heed/train/train_options.h"

#include "heed/base/excerpt.h"
#include "heed/base/recipe_keys.h"
#include "heed/train/run_name.h"

namespace heed {
namespace {

constexpr double kMaxRate = 1000;  // of the learning rate; larger values overflow float weights

const RecipeTable<TrainOptions> train_keys{
    {"max_epochs", &TrainOptions::max_epochs, "epochs at most; 0: no limit", {.min = 0, .max = 1 << 20}},
    {"max_steps",
     &TrainOptions::max_steps,
     "steps at most; 0: no limit",
     {.min = 0, .max = static_cast<double>(int64_t{1} << 40)}},
    {"seed",
     &TrainOptions::seed,
     "seed of the initial weights, the order of batches and all random numbers",
     {.min = 0, .max = static_cast<double>((int64_t{1} << 53) - 1)}},
    {"lr", &TrainOptions::lr, "learning rate", {.min = above(0), .max = kMaxRate}},
    {"optimizer", &TrainOptions::optimizer_spec,
     "`adam(beta1, beta2, epsilon, weight_decay)`, `adamw`, `sgd(momentum)`"},
    {"schedule", &TrainOptions::schedule_spec,
     "factor on the learning rate: `constant`, `inverse_sqrt(warmup_steps=...)`, `cosine(warmup_steps=...)`, "
     "`linear(warmup_steps=...)`, `plateau(factor, patience)`"},
    {"clip_norm", &TrainOptions::clip_norm, "largest norm of the gradient; 0: any", {.min = 0}},
    {"ema_decay",
     &TrainOptions::ema_decay,
     "decay of the moving average of the weights, which is what is validated and kept; 0: none",
     {.min = 0, .max = below(1)}},
    {"average_last",
     &TrainOptions::average_last,
     "at the end, weights averaged over so many last validations are kept if they are better than the best; 0: never",
     {.min = 0, .max = 1000}},
    {"accumulate", &TrainOptions::accumulate, "batches of one step", {.min = 1, .max = 1 << 20}},
    {"validate_every", &TrainOptions::validate_every, "steps between validations; 0: one each epoch", {.min = 0}},
    {"checkpoint_every", &TrainOptions::checkpoint_every, "steps between checkpoints", {.min = 1}},
    {"log_every", &TrainOptions::log_every, "steps between lines of metrics.jsonl", {.min = 1}},
    {"patience",
     &TrainOptions::patience,
     "validations without a better figure before training stops; 0: it never does",
     {.min = 0}},
    {"precision",
     &TrainOptions::precision,
     "`bfloat16` for products of layers; attention and recurrences stay in float",
     {.choices = {"float", "bfloat16"}}},
    {"device", &TrainOptions::device, "`auto`, `cpu`, `cuda`, `cuda:1`"},
    {"capture",
     &TrainOptions::capture,
     "`auto`: steps on a GPU whose shapes repeat are recorded and replayed as CUDA graphs, with the same results",
     {.choices = {"auto", "false"}}}};

const RecipeTable<TrainOptions> run_keys{
    {"dir", &TrainOptions::folder, "the run folder", {.default_text = "`runs/<name>`"}}};

struct NameValues {
  std::string name = "unnamed";
};

const RecipeTable<NameValues> name_keys{
    {"name",
     &NameValues::name,
     "name of the run, without `/`",
     {.default_text = "the recipe's file name and what was changed on the command line"}}};

const RecipeSection::Entry name_section{{"", 1, "", [] { return name_keys.list(); }}};
const RecipeSection::Entry run_section{{"run", 2, "Where the run is written.", [] { return run_keys.list(); }}};
const RecipeSection::Entry train_section{{"train", 40, "Training.", [] { return train_keys.list(); }}};

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
  std::string name = name_keys.read(recipe).name;
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
  o.folder = "runs/" + read_name(recipe) + name_of_changes(recipe);
  o = train_keys.read(t, run_keys.read(run, std::move(o)));
  if (o.max_epochs == 0 && o.max_steps == 0)
    t.refuse("max_epochs", "is 0 and train.max_steps too; expected one of them to say when to stop");
  check_spec(t, "optimizer", o.optimizer_spec, [&] { o.optimizer = Catalogue<Optimizer>::make(o.optimizer_spec); });
  check_schedule(t, o);
  return o;
}

}  // namespace heed
