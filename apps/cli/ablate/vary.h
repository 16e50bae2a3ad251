// What an ablation varies: keys of the recipe with their values, and seeds.
//
//   --vary model.attention.align=softmax,'local_p(3, renorm)',[a, b]     three values: commas inside brackets and
//                                                                        quotes separate nothing
//
// The grid is the product of all axes; the last axis changes first.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

struct Axis {
  std::string key;  // "model.attention.score"
  std::vector<std::string> values;
  bool operator==(const Axis&) const = default;
};

/// The values of a list, without whitespace around them. An Error if one is empty, or a bracket or quote is not closed.
std::vector<std::string> split_values(const std::string& text);

/// "key=value,value" -> its axis; an Error without a key, without values, or if a value is repeated.
Axis parse_axis(const std::string& option);
/// All axes; an Error if two have the same key, or one has a key that an ablation sets itself.
std::vector<Axis> parse_axes(const std::vector<std::string>& options);

/// "3" -> 1, 2, 3; "1,5,7" -> these.
std::vector<int64_t> parse_seeds(const std::string& text);

/// An Error if overrides set what an ablation sets itself, or what it varies.
void check_overrides(const std::vector<std::string>& overrides, const std::vector<Axis>& axes);

/// The values of every cell, [cell][axis], in the order of the grid.
std::vector<std::vector<std::string>> grid_of(const std::vector<Axis>& axes);

/// A folder for each cell of the grid: "score=additive,align=local_p_3_renorm". They differ, and contain no character
/// that a shell or a file system takes for anything else.
std::vector<std::string> cell_names(const std::vector<Axis>& axes, const std::vector<std::vector<std::string>>& grid);

}  // namespace heed::cli
