// The data that `heed list` shows of one part, as plain text. Printing cards needs only this header.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/base/recipe_keys.h"
#include "heed/base/spec.h"

namespace heed::cli {

struct CardParameter {
  std::string name;
  std::vector<std::string> shape{};  // in symbols: {"Dh", "Dq + Dk"}; empty for a structure, which has many widths
  std::string with{};                // spec of the variant that has it, "cosine(2, learned)"; empty: every variant
};

struct Card {
  std::string kind,
      name;  // kind: "score", "alignment", "dimensionality", "structure", "preset", "query model", "section", ...
  std::string axis{};  // of the taxonomy, for structures
  int order = 0;       // order of choice within its family, from 1; 0: after the others
  std::vector<std::string> synonyms{};
  std::string formula{}, choose{}, cost{}, paper{};  // for a preset, formula is its structure
  std::vector<CardParameter> parameters{};
  std::vector<Options::Known> options{};
  std::string path{};                           // of a map of the recipe, for a component or a section: "model.query"
  std::string task{};                           // that has this map or component; empty: every task
  RecipeKeyList keys{};                         // below that path
  std::vector<std::string> dimensionalities{};  // supported by a score
  std::string inside{};                         // default mechanism of a structure; mechanisms of a preset
  std::vector<std::string> takes{};             // inputs of a structure
  std::vector<std::string> modules{};           // of a structure: submodules with its parameters
  std::vector<std::pair<std::string, std::string>> axes{};  // of a preset: axis and choice
};

}  // namespace heed::cli
