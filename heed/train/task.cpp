#include "heed/train/task.h"

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

std::string read_task_name(const Settings& recipe) {
  return task_keys().read(recipe).task;
}

}  // namespace heed
