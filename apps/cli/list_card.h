// What `heed list` knows of one part, as plain text: the printing of cards needs nothing but this header.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/base/spec.h"

namespace heed::cli {

struct CardParameter {
  std::string name;
  std::vector<std::string> shape{};  // in symbols: {"Dh", "Dq + Dk"}; empty for a structure, whose widths are many
  std::string with{};                // the spec that has it, "cosine(2, learned)"; "": the part without options too
};

struct Card {
  std::string kind, name;  // kind: "score", "alignment", "dimensionality", "structure", "preset", "query model", ...
  std::string axis{};      // of the taxonomy, for structures
  int order = 0;           // of choice within its family, from 1; 0: after the others
  std::vector<std::string> synonyms{};
  std::string formula{}, choose{}, cost{}, paper{};  // formula of a preset: its structure
  std::vector<CardParameter> parameters{};
  std::vector<Options::Known> options{};                    // of a model component: its recipe keys
  std::vector<std::string> dimensionalities{};              // that a score has
  std::string inside{};                                     // default mechanism of a structure; mechanisms of a preset
  std::vector<std::string> takes{};                         // inputs of a structure
  std::vector<std::string> modules{};                       // of a structure: what holds its parameters
  std::vector<std::pair<std::string, std::string>> axes{};  // of a preset: axis and choice
};

}  // namespace heed::cli
