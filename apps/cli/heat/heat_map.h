// Weights to be drawn: on a terminal, as a picture, as a page.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/screen.h"

namespace heed::cli {

struct HeatMap {
  std::string title;                                        // of a sentence, a head, a layer, a hop
  std::vector<std::string> columns, rows;                   // words of keys and of queries
  std::vector<std::vector<double>> weights;                 // [row][column]
  double top = 1;                                           // the weight that is drawn brightest
  std::string column_name = "source", row_name = "target";  // the sides, as labels call them
  std::string remark{};                                     // after the title: which attention is shown
};

/// The title with its remark: "Tom sleeps (cross-attention, layer 2 of 6, head 3 of 8)".
std::string titled(const HeatMap& map);

/// Throws where the weights are not [rows][columns].
void check_heat_map(const HeatMap& map);

/// In so many columns of a terminal. Numbers under words if they fit; else per cent, under words written downwards;
/// else shades, two columns a word, with the strongest word after each row; else the same in blocks of source
/// words.
void print_heat_map(std::ostream& out, const HeatMap& map, Colors colors, int columns);

}  // namespace heed::cli
