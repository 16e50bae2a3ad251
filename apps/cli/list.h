// heed list: the catalogue, as its parts describe themselves.
//
// Shapes are printed in symbols. A part is asked for its parameters at widths that are powers of 1000, so that a
// size such as 1'003'000'000 can be read back as Dq + 3 Dk; a size that follows an option is found by changing it.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "heed/base/words.h"

namespace heed::cli {

struct CardParameter {
  std::string name;
  std::vector<std::string> shape;  // in symbols: {"Dh", "Dq + Dk"}
};

/// What is known of one part.
struct Card {
  std::string kind, name;  // kind: "score", "alignment", "dimensionality"
  std::string formula, choose, cost, paper;
  std::vector<CardParameter> parameters;
  std::vector<Options::Known> options;
  std::vector<std::string> dimensionalities;  // that a score has
};

/// Every part, scores first; or those called `name` ("entmax", "entmax(1.5)"), at least one.
std::vector<Card> cards();
std::vector<Card> cards(const std::string& name);

enum class ListForm { words, json, markdown };
void print_list(std::ostream& out, const std::vector<Card>& cards, ListForm form);

}  // namespace heed::cli
