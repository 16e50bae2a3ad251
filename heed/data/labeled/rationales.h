// Rationales of labeled examples: a weight for each word of the text, such as 1 where people marked it and 0 elsewhere,
// separated by blanks. They are a column of the table of examples, where a record may lack it or have it empty, or a
// table of their own: the first column is the id of an example, the last one has the weights.

#pragma once

#include <string>
#include <vector>

namespace heed {

struct Examples;

/// The weights of the words of a text; none: it has no rationale.
struct Rationale {
  std::vector<double> weights;
  std::string origin;  // "gold.tsv:17"
};

/// Weights from a field. Throws Error, with its origin, unless all are finite numbers of at least 0.
Rationale parse_rationale(const std::string& field, const std::string& origin);

/// Sets the rationales of examples with ids from a table of rationales, whose other ids are skipped. Throws Error if it
/// has none of the ids, or an id twice.
void join_rationales(Examples& examples, const std::string& file);

}  // namespace heed
