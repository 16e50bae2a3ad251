// Weights to be drawn: on a terminal, as a picture, as a page.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/screen.h"

namespace heed::cli {

struct HeatMap {
  std::string title;                         // of a sentence, a head, a layer, a hop
  std::vector<std::string> columns, rows;    // source words, target words
  std::vector<std::vector<double>> weights;  // [row][column]
  double top = 1;                            // the weight that is drawn brightest
};

/// Throws where the weights are not [rows][columns].
void check_heat_map(const HeatMap& map);

/// In so many columns of a terminal. Numbers under words if they fit; else per cent, under words written downwards;
/// else shades, two columns a word, with the strongest source word after each row; else the same in blocks of source
/// words.
void print_heat_map(std::ostream& out, const HeatMap& map, Colors colors, int columns);

}  // namespace heed::cli
