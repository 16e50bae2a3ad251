// A preset: what one paper chose on every axis of the taxonomy (Brauwers & Frasincar, 2023, Table 3).
//
//   auto model = heed::preset("wallaart_2019", {.features = {300}});
//   // rotatory(hops=3) with activated_general + softmax
//
// A preset is two specs: a structure of the catalogue and a mechanism inside it. One file in heed/structures/preset
// registers it. If no other paper uses the structure, that file also defines the structure.

#pragma once

#include <string>
#include <vector>

#include "heed/structures/structure.h"

namespace heed {

/// The choice on each axis, by catalogue name; several names, separated by commas, if the paper tries several.
struct Axes {
  std::string features, levels, representations;  // "singular", "single", "single"
  std::string score, alignment, dimensionality;   // "additive", "softmax", "single"
  std::string query, queries;                     // "basic", "singular"
};

/// One paper's model.
struct Preset {
  std::string paper;  // "Bahdanau et al., 2015, Neural machine translation ..."
  Axes axes;
  std::string structure;                // spec
  std::vector<std::string> mechanisms;  // specs the paper tries, its main one first; alignments if own_scores()

  /// Registers a preset at static initialization.
  struct Entry {
    Entry(const std::string& name, Preset preset);
  };
};

/// Names of all presets, sorted.
std::vector<std::string> preset_names();
/// The preset of that name. Throws Error for an unknown name and suggests the nearest one.
const Preset& find_preset(const std::string& name);

/// Builds the paper's model with these widths. options.mechanism, if not empty, replaces the paper's main mechanism.
std::shared_ptr<Structure> preset(const std::string& name, StructureOptions options);

/// Normally distributed inputs without padding, in the dtype and on the device of the structure's parameters.
StructureInput random_inputs(const Structure& structure, int64_t batch = 2, int64_t length = 5);

}  // namespace heed
