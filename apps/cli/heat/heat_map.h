// A matrix of weights to draw: on a terminal, as PNG, as HTML.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/screen.h"

namespace heed::cli {

struct HeatMap {
  std::string title;                                        // usually the sentence
  std::vector<std::string> columns, rows;                   // words of the keys; words of the queries
  std::vector<std::vector<double>> weights;                 // [row][column]
  double top = 1;                                           // the weight of the brightest color
  std::string column_name = "source", row_name = "target";  // names of the two axes in labels
  std::string remark{};                                     // after the title: which attention it is
  std::string note{};                                       // below: what is known of weights like these
};

/// The title with its remark: "Tom sleeps (cross-attention, layer 2 of 6, head 3 of 8)".
std::string titled(const HeatMap& map);

/// Throws if the weights are not [rows][columns].
void check_heat_map(const HeatMap& map);

/// Prints the map in at most `columns` columns, in the largest format that fits: numbers under words; percentages under
/// vertical words; shades of two columns per word, with the strongest word after each row; the same in blocks of
/// columns.
void print_heat_map(std::ostream& out, const HeatMap& map, Colors colors, int columns);

}  // namespace heed::cli
