// Word alignments of parallel sentences, as links between source and target words.
//
// Pharaoh format, one line for each sentence pair: "0-0 1-2 2p1" is source-target, numbered from 0; 'p' instead of '-'
// marks a possible link, the others are sure. Two directions of a model are symmetrized by the heuristics of Och & Ney
// (2003) and Koehn et al. (2005), in the order in which Moses applies them.

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

/// Conventions of a file of links.
struct LinkNumbers {
  bool from_one = false;  // words are numbered from 1
  bool swapped = false;   // lines are target-source
};

/// Parses "0-0 1-2 2p1", in the order of the line; throws Error if a link is malformed. pharaoh() is the inverse.
Links parse_links(std::string_view line, LinkNumbers numbers = {});
std::string pharaoh(const Links& links);

/// Source and target exchanged.
Links swapped(Links links);

/// Whether any link has a word 0. If none has, words are probably numbered from 1.
bool has_word_zero(const std::vector<Links>& lines);

/// Removes links to words beyond the ends of the sentences; returns their number.
int64_t remove_out_of_range(Links& links, size_t source_words, size_t target_words);

enum class Symmetry { forward, backward, intersection, either, grow_diag, grow_diag_final, grow_diag_final_and };

/// Parses "grow_diag_final_and", also with hyphens; `either` is named "union". Throws Error for unknown names.
Symmetry parse_symmetry(const std::string& word);
std::vector<std::string> symmetry_names();

/// forward: links of the source-to-target model (at most one for each target word); backward: of the target-to-source
/// model. Both are written source-target. The result is sorted, without duplicates, and all links are sure.
Links symmetrized(const Links& forward, const Links& backward, Symmetry how);

using WeightRows = std::vector<std::vector<double>>;  // a row for each target word, a column for each source word

/// Links each target word to the source word with the largest weight (the first on ties) if that is above `threshold`.
/// Throws Error for a NaN.
Links strongest_links(const WeightRows& weights, double threshold = 0);

/// The product of both directions, a_ij b_ji: a of the source-to-target model, b of the target-to-source model with a
/// row for each source word. The result has a row for each target word.
WeightRows agreement(const WeightRows& forward, const WeightRows& backward);

/// Links between words that have the largest weight in both their row and their column; the first on ties.
Links mutual_links(const WeightRows& weights);

/// Merges weights between subword pieces to weights between words: the sum over source pieces and the mean over target
/// pieces. source_words, target_words: the word index of each piece, -1 for pieces outside words (an end marker).
WeightRows merged_to_words(const WeightRows& pieces, const std::vector<int64_t>& source_words,
                           const std::vector<int64_t>& target_words);

}  // namespace heed
