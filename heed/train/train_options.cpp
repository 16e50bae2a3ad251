#include "heed/train/train_options.h"

namespace heed {
namespace {

/// What `make` gives of a key's words; its refusal becomes one of the key.
template <typename Make>
void check_words(const Settings& settings, const std::string& key, const std::string& words, const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    settings.refuse(key, "is '", words, "': ", error.what());
  }
}

}  // namespace

TrainOptions read_train_options(const Settings& recipe) {
  const Settings t = recipe.at("train"), run = recipe.at("run");
  TrainOptions o;
  o.folder = run.text("dir", "runs/" + recipe.text("name", "unnamed"));
  o.epochs = t.integer("epochs", 20, 0, 1 << 20);
  o.steps = t.integer("steps", 0, 0, int64_t{1} << 40);
  if (o.epochs == 0 && o.steps == 0)
    t.refuse("epochs", "is 0 and train.steps too; expected one of them to say when to stop");
  o.seed = static_cast<uint64_t>(t.integer("seed", 1, 0, (int64_t{1} << 53) - 1));
  o.lr = t.number("lr", 1e-3, above(0));
  o.optimiser_words = t.text("optimiser", "adam");
  check_words(t, "optimiser", o.optimiser_words, [&] { o.optimiser = Catalogue<Optimiser>::make(o.optimiser_words); });
  o.schedule_words = t.text("schedule", "constant");
  check_words(t, "schedule", o.schedule_words, [&] { Schedule::make(o.schedule_words, {.steps = int64_t{1} << 40}); });
  o.clip = t.number("clip", 1, 0);
  o.average = t.number("average", 0, 0, below(1));
  o.accumulate = t.integer("accumulate", 1, 1, 1 << 20);
  o.validate = t.integer("validate", 0, 0);
  o.checkpoint = t.integer("checkpoint", 500, 1);
  o.log = t.integer("log", 50, 1);
  o.patience = t.integer("patience", 0, 0);
  o.bfloat16 = t.choice("precision", {"float", "bfloat16"}) == "bfloat16";
  o.device = t.text("device", "auto");
  return o;
}

}  // namespace heed
