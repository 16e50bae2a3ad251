// What a translator attends to, as heat maps.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"

#include "heed/models/translate/attention_map.h"

namespace heed::cli {

/// Rows of a map, counted from 1: those of some steps of a decoder. to 0: all of them.
struct StepRange {
  int64_t from = 1, to = 0;
};
/// "3" or "2-4"; refuses anything else.
StepRange parse_steps(const std::string& text);

/// The map with these rows alone; refuses a range that it does not have.
AttentionMap with_steps(AttentionMap map, const StepRange& steps);

/// Titled with the source sentence (decoder: the target); with the layer and the head where the model has several; and
/// with a remark where it has no attention, so that the weights are equal.
HeatMap heat_map_of(const AttentionMap& map, const TranslationModel& model, AttentionKind kind);

/// "cross-attention, layer 2 of 6, head 3 of 8"
std::string described(const AttentionMap& map, AttentionKind kind);

/// Cross-attention of the translator's own translations, as `heed attend` shows it by default.
std::vector<HeatMap> translation_maps(Translator& translator, const std::vector<std::string>& sources, int64_t beam);

/// Columns of the terminal, 80 where there is none.
int terminal_columns();

}  // namespace heed::cli
