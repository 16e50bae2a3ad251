#include "apps/cli/torch/demo_learner.h"

#include <optional>
#include <unistd.h>

#include "apps/cli/child_program.h"
#include "apps/cli/program_name.h"
#include <nlohmann/json.hpp>

#include "heed/attention/mechanism.h"
#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"

namespace heed::cli {
namespace {

Settings recipe_for(const char* recipe_text, const Learner& learner, const DemoOptions& options) {
  Settings recipe = parse_recipe(recipe_text, "demo", options.overrides);
  recipe.set("model.attention", learner.attention);
  recipe.set("train.seed", std::to_string(options.seed));
  recipe.set("run.dir", options.folder + "/" + learner.name);
  return recipe;
}

/// A model that a process of its own trains, at the same time as this one trains another.
class LearnerElsewhere {
 public:
  LearnerElsewhere(const char* recipe, const Learner& learner, const DemoOptions& options)
      : folder_(options.folder + "/" + learner.name), recipe_{options.folder + "/." + learner.name + ".yaml"} {
    make_folders(options.folder);
    write_atomically(recipe_.path, recipe_yaml(recipe_for(recipe, learner, options)));
    const std::string path = (recipe_.path[0] == '-' ? "./" : "") + recipe_.path;
    process_.emplace(options.program, std::vector<std::string>{"--threads", "1", "train", path, "--force", "--quiet"});
  }
  LearnerElsewhere(const LearnerElsewhere&) = delete;
  LearnerElsewhere& operator=(const LearnerElsewhere&) = delete;

  TrainResult wait() {
    const int status = process_->wait();
    if (status > 128) return {.folder = folder_, .interrupted = true, .signal = status - 128};
    check(status == 0, "demo: training of ", folder_, " ended with status ", status, "; see ", folder_, "/log.txt");
    return {.folder = folder_, .results = nlohmann::ordered_json::parse(read_file(folder_ + "/results.json"))};
  }

 private:
  struct TemporaryFile {
    std::string path;
    ~TemporaryFile() { ::unlink(path.c_str()); }
  };
  std::string folder_;
  TemporaryFile recipe_;
  std::optional<ChildProgram> process_;
};

TrainResult learn(const char* recipe, const Learner& learner, const DemoOptions& options) {
  return train(recipe_for(recipe, learner, options),
               {.force = true, .quiet = options.quiet, .program = program_name()});
}

}  // namespace

int learn_both(const char* recipe, std::vector<Learner>& learners, const DemoOptions& options,
               const std::function<void(const Learner&)>& done) {
  Learner &attentive = learners.front(), &baseline = learners.back();
  std::optional<LearnerElsewhere> elsewhere;
  if (!options.program.empty()) elsewhere.emplace(recipe, baseline, options);
  attentive.result = learn(recipe, attentive, options);
  if (attentive.result.interrupted) return attentive.result.signal;
  done(attentive);
  baseline.result = elsewhere ? elsewhere->wait() : learn(recipe, baseline, options);
  if (baseline.result.interrupted) return baseline.result.signal;
  done(baseline);
  return 0;
}

std::string short_name(const std::string& mechanism) {
  const auto parts = Mechanism::parse(mechanism).parts();
  return parts.score.name + (parts.align.name == "softmax" ? "" : "_" + parts.align.name);
}

}  // namespace heed::cli
