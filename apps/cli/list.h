// heed list: the catalogue, as its parts describe themselves.
//
// Shapes are printed in symbols. A part is asked for its parameters at widths that are powers of 1000, so that a
// size such as 1'003'000'000 can be read back as Dq + 3 Dk; a size that follows an option is found by changing it.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "heed/base/spec.h"

namespace heed::cli {

struct CardParameter {
  std::string name;
  std::vector<std::string> shape;  // in symbols: {"Dh", "Dq + Dk"}
};

/// What is known of one part.
struct Card {
  std::string kind, name;  // kind: "score", "alignment", "dimensionality", "structure"
  std::string formula, choose, cost, paper;
  std::vector<CardParameter> parameters;  // without shapes for a structure, whose widths are many
  std::vector<Options::Known> options;
  std::vector<std::string> dimensionalities;  // that a score has
  // Of a structure:
  std::string axis{}, inside{};                 // of the taxonomy; its usual mechanism, or alignment
  std::vector<std::string> takes{}, modules{};  // inputs; what holds its parameters
};

/// Every part, scores first, structures last; or those called `name` ("entmax", "entmax(1.5)"), at least one.
std::vector<Card> cards();
std::vector<Card> cards(const std::string& name);

enum class ListForm { text, json, markdown };
void print_list(std::ostream& out, const std::vector<Card>& cards, ListForm form);

/// The presets and their choice on each axis; "": all of them.
void print_presets(std::ostream& out, const std::string& name, ListForm form);

}  // namespace heed::cli
