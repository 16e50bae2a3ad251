// heed compare: several runs in one table.

#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace heed::cli {

/// What the files of a run folder say of it: results.json, and where it is not there yet config.json, metrics.jsonl and
/// the header of checkpoint.safetensors.
struct RunSummary {
  std::string run;        // the folder, as it was given or found
  std::string mechanism;  // "additive + softmax", "fixed"; "": not known
  std::string machine;    // "cpu, 2 threads"
  std::string version;    // of heed
  std::optional<double> parameters, step, tokens_per_second, seconds;
  std::map<std::string, double> figures;           // "dev bleu", "test aer"
  std::map<std::string, std::string> comparables;  // what must agree for figures to be compared: "test BLEU signature"
  std::string missing;                             // what is not known yet and how to get it; "": nothing
};

/// The folders of runs: each path itself, or the runs below it, by name. A folder is listed once. Refuses a path that
/// is none of both.
std::vector<std::string> run_folders(const std::vector<std::string>& paths);
RunSummary read_run_summary(const std::string& folder);

/// Best first by that column; runs without it come last. "": the order as it is.
void sort_runs(std::vector<RunSummary>& runs, const std::string& key);
std::vector<std::string> run_sort_keys();

/// In so many columns, 0: as many as it takes; then remarks on what is missing and on what cannot be compared.
void print_comparison(std::ostream& out, const std::vector<RunSummary>& runs, int columns);
void print_comparison_markdown(std::ostream& out, const std::vector<RunSummary>& runs);
void print_comparison_json(std::ostream& out, const std::vector<RunSummary>& runs);

}  // namespace heed::cli
