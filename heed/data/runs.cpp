#include "heed/data/runs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "heed/base/excerpt.h"
#include "heed/data/file.h"

namespace heed {

bool is_run(const std::string& folder) {
  return is_folder(folder) && exists(folder + "/config.json");
}

std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".") && is_run(entry.path().string())) runs.push_back(entry.path().string());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

void check_run(const std::string& folder) {
  constexpr size_t kShown = 8;
  if (is_run(folder)) return;
  const std::string shown = excerpt(folder);
  check(is_folder(folder), shown, ": got no folder of that name, expected a run: a folder that training wrote");
  auto runs = runs_in(folder);
  check(!runs.empty(), shown, ": got a folder without config.json, expected a run: a folder that training wrote");
  const size_t count = runs.size();
  if (count > kShown) runs.resize(kShown);
  for (auto& run : runs) run = excerpt(run);
  fail(shown, ": got a folder of ", count, count == 1 ? " run" : " runs", ", expected ",
       count == 1 ? "the run itself: " : "one of them: ", joined(runs), count > kShown ? ", ..." : "");
}

}  // namespace heed
