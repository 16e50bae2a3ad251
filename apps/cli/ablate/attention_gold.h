// The attention of the runs of a grid against gold: `heed eval RUN --attention GOLD --json` for every finished run.
// What it says, or why it says nothing, is kept in <run>.attention.json with its key: the options, the md5 of the gold
// file and that of the run's results.json. attention.json of the folder says which gold the table is about.

#pragma once

#include <optional>
#include <string>

#include "apps/cli/ablate/grid.h"
#include "apps/cli/ablate/grid_progress.h"
#include "apps/cli/ablate/plan.h"
#include <nlohmann/json.hpp>

namespace heed::cli {

struct AttentionGold {
  std::string options;  // the value of --attention, with further options of heed eval: "gold.tsv --set dev"
  std::string md5;      // of the file that it names
  bool operator==(const AttentionGold&) const = default;
};

/// Reads the file; an Error if there is none.
AttentionGold attention_gold(const std::string& options);
/// That of the last call with --attention; nothing before one.
std::optional<AttentionGold> read_attention_gold(const std::string& folder);
void write_attention_gold(const std::string& folder, const AttentionGold& gold);

/// Measures the finished runs that have no figures with this gold. Returns the signal that stopped it, or 0. A run that
/// cannot be measured is a line of the progress.
int measure_attention(const Plan& plan, const std::string& folder, const AttentionGold& gold,
                      const GridOptions& options, GridProgress& progress);

/// What a run says of its attention, for this gold and for the run as it is.
struct MeasuredAttention {
  nlohmann::ordered_json figures;  // by name, "correctness": 0.81; AER of links is "aer"
  std::string failure;             // why there are none; empty: there are, or it was not measured
  bool measured = false;
};
MeasuredAttention measured_attention(const GridRun& run, const AttentionGold& gold);

}  // namespace heed::cli
