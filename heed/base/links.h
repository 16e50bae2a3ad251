// Links: which word of a source text belongs to which word of a target text.
//
// Written as Pharaoh lines, one for each pair of sentences: "0-0 1-2 2p1" is source-target, numbers from 0; 'p' in
// place of '-' is a possible link, where annotators left it open. Two directions of a model are symmetrized by the
// heuristics of Och & Ney (2003) and Koehn et al. (2005), in the order in which Moses applies them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace heed {

struct Link {
  int64_t source = 0, target = 0;
  bool sure = true;
  bool operator==(const Link&) const = default;
  bool operator<(const Link& other) const {  // by source, then by target
    return std::tie(source, target, sure) < std::tie(other.source, other.target, other.sure);
  }
};
using Links = std::vector<Link>;

struct LinkNumbers {
  bool from_one = false;  // words are numbered from 1
  bool swapped = false;   // lines are target-source
};

/// "0-0 1-2 2p1", in the order of the line.
Links parse_links(std::string_view line, LinkNumbers numbers = {});
std::string pharaoh(const Links& links);

/// Source and target exchanged.
Links swapped(Links links);

/// Whether any link has a word 0. Where no line has one, words are probably counted from 1.
bool has_word_zero(const std::vector<Links>& lines);

/// Removes links to words that a pair of sentences does not have; returns how many.
int64_t remove_out_of_range(Links& links, size_t source_words, size_t target_words);

enum class Symmetry { forward, backward, intersection, either, grow_diag, grow_diag_final, grow_diag_final_and };

/// "grow_diag_final_and", or with hyphens; `either` is called "union".
Symmetry parse_symmetry(const std::string& word);
std::vector<std::string> symmetry_names();

/// forward: of a model that reads the source and writes the target (a link for each target word); backward: of the
/// model the other way round. Both are source-target. Links come out in order, each once, all of them sure.
Links symmetrized(const Links& forward, const Links& backward, Symmetry how);

using WeightRows = std::vector<std::vector<double>>;  // a row for each target word, a column for each source word

/// A link from each target word to the source word with the greatest weight, the first of equals; none where that
/// weight is not above `threshold`. A weight that is NaN is refused.
Links strongest_links(const WeightRows& weights, double threshold = 0);

/// What both directions think of a pair of words: a_ij b_ji, with a of the model that writes the target and b, a row
/// for each source word, of the other one. A row for each target word.
WeightRows agreement(const WeightRows& forward, const WeightRows& backward);

/// Links between words that are each other's strongest; the first of equals.
Links mutual_links(const WeightRows& weights);

/// Weights between pieces of words to weights between words: a word gets the sum over its source pieces and the mean
/// over its target pieces. For each piece the number of its word, -1 for what is no word (an end marker).
WeightRows merged_to_words(const WeightRows& pieces, const std::vector<int64_t>& source_words,
                           const std::vector<int64_t>& target_words);

}  // namespace heed
