// What a translator looked at, as heat maps.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"

#include "heed/models/translate/translator.h"

namespace heed::cli {

/// The source's end marker is the last column, so that the weights of a row are all there. One for each source;
/// targets: given translations, or none for the translator's own.
std::vector<HeatMap> translation_maps(Translator& translator, const std::vector<std::string>& sources,
                                      const std::vector<std::string>& targets, int64_t beam);

/// Columns of the terminal, 80 where there is none.
int terminal_columns();

}  // namespace heed::cli
