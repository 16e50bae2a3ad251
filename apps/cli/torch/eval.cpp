// heed eval of a run: translates its dev and test sets with the best weights and scores them.

#include <iostream>

#include "apps/cli/compare.h"
#include "apps/cli/eval_options.h"
#include "apps/cli/report.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/torch_support/model_file.h"
#include "heed/train/task.h"
#include "heed/train/train_options.h"

namespace heed::cli {
namespace {

/// Metrics of the sets of the run's recipe, with the best weights.
nlohmann::ordered_json evaluated(const EvalArguments& a) {
  const std::string weights = a.run + "/model.safetensors";
  check(is_folder(a.run) && exists(a.run + "/recipe.yaml"), "eval: ", a.run,
        " is not a run; expected a run folder, written by heed train, or --hypothesis and --reference");
  check(exists(weights), "eval: ", a.run, " has no model.safetensors yet; training writes it at the first validation");
  const Settings recipe = read_recipe(a.run + "/recipe.yaml", a.overrides);
  const TrainOptions options = read_train_options(recipe);
  const auto task = Task::Parts::make(read_task_name(recipe), recipe,
                                      TaskEnvironment{a.run, device_of(a.device), /*resumed=*/true, options.seed});
  task->model().to(device_of(a.device));
  load_model(task->model(), a.run);
  task->model().eval();
  return task->evaluate("");
}

void run_eval(const EvalArguments& a) {
  auto report = evaluated(a);
  Provenance origin = provenance();
  origin.add_runs(read_run_summary(a.run).origin);
  if (a.json) {
    report["provenance"] = as_json(origin);
    std::cout << report.dump(2) << '\n';
    return;
  }
  print_results(std::cout, report);
  std::cout << '\n';
  print(std::cout, origin);
}

const Body eval_body{"eval", run_eval};

}  // namespace
}  // namespace heed::cli
