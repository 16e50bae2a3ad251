// Recognizes run folders, and reports folders that are not runs.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// Whether the folder contains config.json.
bool is_run(const std::string& folder);

/// The runs directly below the folder, sorted; empty if it is not a folder.
std::vector<std::string> runs_in(const std::string& folder);

/// Throws an Error if the folder is not a run. The message for a folder of runs names them: "runs/demo: got a folder of
/// 2 runs, expected one of them: runs/demo/additive, runs/demo/fixed".
void check_run(const std::string& folder);

}  // namespace heed
