#include "heed/train/task.h"

#include "heed/base/check.h"
#include "heed/base/recipe_keys.h"

namespace heed {
namespace {

struct TaskValues {
  std::string task = "translate";
};

RecipeTable<TaskValues> task_keys() {
  return {{"task", &TaskValues::task, "what is learned", {.choices = Task::Parts::names()}}};
}

const RecipeSection::Entry task_section{{"", 0, "", [] { return task_keys().list(); }}};

}  // namespace

Loss Task::loss(const Share&, const TaskInput&, const at::Tensor&) {
  fail("task: got an input for a loss, expected none: this task makes no inputs");
}

std::string read_task_name(const Settings& recipe) {
  return task_keys().read(recipe).task;
}

}  // namespace heed
