// heed compare: a table of several runs.

#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/provenance.h"

namespace heed::cli {

/// Summary of a run, read from the files of its folder: results.json, or before it exists config.json, metrics.jsonl
/// and the header of checkpoint.safetensors.
struct RunSummary {
  std::string run;        // path of the folder, as given or found
  std::string mechanism;  // "additive + softmax", "fixed"; empty if unknown
  std::string machine;    // "cpu, 2 threads"
  std::string version;    // version of Heed that wrote the run
  std::optional<double> parameters, step, tokens_per_second, seconds, peak_memory;
  std::map<std::string, double> figures;           // "dev bleu", "test aer"
  std::map<std::string, std::string> comparables;  // must agree for figures to be comparable: "test BLEU signature"
  Provenance origin;                               // seed, commit and data of the run, if it has results
  std::string missing;                             // what is not known yet and the command to get it; empty if complete
};

/// Run folders: each path itself, or the runs below it, sorted by name, without duplicates. Throws if a path is not a
/// run and contains none.
std::vector<std::string> run_folders(const std::vector<std::string>& paths);
RunSummary read_run_summary(const std::string& folder);

/// Sorts by one of run_sort_keys(), best first; runs without a value come last. An empty key keeps the order.
void sort_runs(std::vector<RunSummary>& runs, const std::string& key);
std::vector<std::string> run_sort_keys();

/// Prints the table, at most `columns` wide (0: no limit), then remarks on missing results and on figures that are not
/// comparable.
void print_comparison(std::ostream& out, const std::vector<RunSummary>& runs, int columns);
/// The same for documents and programs, with the origin of the figures.
void print_comparison_markdown(std::ostream& out, const std::vector<RunSummary>& runs);
void print_comparison_json(std::ostream& out, const std::vector<RunSummary>& runs);

}  // namespace heed::cli
