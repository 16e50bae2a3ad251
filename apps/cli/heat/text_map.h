// A text whose words have weights, to draw as running text: on a terminal, as PNG, as HTML. Long texts stay readable,
// because they are broken into lines as on a page.
//
//   positive 0.9981 (self_attentive + softmax)
//     we loved the dessert . in the winter everybody enjoyed the soup .
//           52                                            46                 percent

#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/screen.h"

namespace heed::cli {

/// A part of the text: all of it, a sentence of a document, or all of it once more for another query.
struct TextPart {
  std::string label{};               // which part, or which query; may be empty
  std::vector<std::string> words{};  // may be empty
  std::vector<double> weights{};     // of each word; empty: words without weights
  std::optional<double> weight{};    // of the part itself: of a sentence
};

struct TextMap {
  std::string title{}, remark{};
  std::vector<TextPart> parts{};
  std::string note{};  // below: what is known of weights like these
};

/// The title with its remark: "positive 0.9981 (self_attentive + softmax)".
std::string titled(const TextMap& map);

/// Throws Error if a part has weights, but not one for each word.
void check_text_map(const TextMap& map);

/// The largest weights, which have the brightest color: of words, of parts; 1 if there are none.
struct TopWeights {
  double words = 1, parts = 1;
};
TopWeights top_weights(const TextMap& map);

/// A weight in percent, with a digit after the point if all are small; "" if that is 0.
std::string percent_of(double weight, double top);
/// The label of a part with its weight: "2: 31 %".
std::string label_of(const TextPart& part);

/// The map without control characters.
TextMap with_printable_text(TextMap map);

/// Prints words in at most `columns` columns, and percentages below them.
void print_text_map(std::ostream& out, const TextMap& map, Colors colors, int columns);

}  // namespace heed::cli
