// Which folders are runs, and what to say of one that is none.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// Whether the folder has the config.json of a run.
bool is_run(const std::string& folder);

/// The runs directly below the folder, sorted; empty where it is no folder.
std::vector<std::string> runs_in(const std::string& folder);

/// Refuses what is no run. A folder that holds runs is refused with their names: "runs/demo: got a folder of 2 runs,
/// expected one of them: runs/demo/additive, runs/demo/fixed".
void check_run(const std::string& folder);

}  // namespace heed
