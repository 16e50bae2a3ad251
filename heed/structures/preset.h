// A preset: what one paper chose on every axis of the taxonomy (Brauwers & Frasincar, 2023, Table 3).
//
//   auto model = heed::preset("wallaart_2019", {.features = {300}});      // rotatory(hops=3), activated_general +
//   softmax
//
// A preset is words, not code: a structure of the catalogue and a mechanism inside. It enters itself, as parts do, from
// one file in heed/structures/preset; where a paper's structure is nobody else's, that file has the structure too.

#pragma once

#include <string>
#include <vector>

#include "heed/structures/structure.h"

namespace heed {

/// One choice on each axis, in the words of the catalogue; several where a paper tries several.
struct Axes {
  std::string features, levels, representations;  // "singular", "single", "single"
  std::string score, alignment, dimensionality;   // "additive", "softmax", "single"
  std::string query, queries;                     // "basic", "singular"
};

struct Preset {
  std::string paper;  // "Bahdanau et al., 2015, Neural machine translation ..."
  Axes axes;
  std::string structure;                // words
  std::vector<std::string> mechanisms;  // that the paper tries, its main one first; alignments where scores are fixed

  struct Entry {
    Entry(const std::string& name, Preset preset);
  };
};

std::vector<std::string> preset_names();
/// Refuses unknown names, with the nearest one.
const Preset& find_preset(const std::string& name);

/// The model of that paper at these widths. options.mechanism: another than the paper's main one.
std::shared_ptr<Structure> preset(const std::string& name, StructureOptions options);

/// Inputs that fit a structure, in the type and on the device of its parameters: normally distributed, all of them
/// real.
StructureInput random_inputs(const Structure& structure, int64_t batch = 2, int64_t length = 5);

}  // namespace heed
