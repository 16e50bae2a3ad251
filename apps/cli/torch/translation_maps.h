// Attention weights of a translator as heat maps.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"

#include "heed/models/translate/attention_map.h"

namespace heed::cli {

/// Rows of a map, counted from 1, both ends included. to = 0: all rows.
struct StepRange {
  int64_t from = 1, to = 0;
};
/// Parses "3" or "2-4"; throws on anything else.
StepRange parse_steps(const std::string& text);

/// The map with only these rows; throws if the range exceeds the map.
AttentionMap with_steps(AttentionMap map, const StepRange& steps);

/// The title is the source sentence (decoder: the target). The remark names the layer and the head if the model has
/// several, or says that the model has no attention, so that the weights are equal.
HeatMap heat_map_of(const AttentionMap& map, const TranslationModel& model, AttentionKind kind);

/// Which attention is shown: "cross-attention, layer 2 of 6, head 3 of 8".
std::string described(const AttentionMap& map, AttentionKind kind);

/// Cross-attention of the translator's own translations, as `heed attend` shows it by default.
std::vector<HeatMap> translation_maps(Translator& translator, const std::vector<std::string>& sources, int64_t beam);

/// Width of the terminal in columns; 80 without a terminal.
int terminal_columns();

}  // namespace heed::cli
