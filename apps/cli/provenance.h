// Where the figures of a report are from: the command, the program, the data, the seeds, the machine and the time.

#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

struct Provenance {
  std::string command;  // as it can be pasted into a shell
  std::string version, commit;
  std::string machine;                                  // "AMD EPYC 7763, 2 processors, Linux 6.1.0"
  std::string date;                                     // UTC: "2026-11-19 13:05:00 UTC"
  std::set<int64_t> seeds{};                            // of the runs
  std::set<std::string> commits{};                      // that wrote the runs
  std::map<std::string, std::set<std::string>> data{};  // md5 of each set; of several if runs differ

  /// Adds seed, commit and data hashes of a run, from its results.json; or those that another one has of its runs.
  void add_run(const nlohmann::ordered_json& results);
  void add_runs(const Provenance& other);
};

/// The arguments of this process, with its name first.
std::vector<std::string> own_arguments();
/// That of this process, now.
Provenance provenance();

nlohmann::ordered_json as_json(const Provenance& provenance);
/// Names and values for people, in order: ("command", "heed compare runs"), ...
std::vector<std::pair<std::string, std::string>> facts(const Provenance& provenance);
/// Prints a line for each of them.
void print(std::ostream& out, const Provenance& provenance);

}  // namespace heed::cli
