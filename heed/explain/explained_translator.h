// A translator as a model that is explained: sentence pairs of its recipe, read with the reference as the known target
// (teacher forcing).
//
//   P   the target's tokens and its end marker         C   tokens of the target vocabulary
//   T   tokens of the source. Its end marker has a weight too, but is no token here: it keeps that weight
//
// The weights are those of the aligning step, the mean over heads and features: of a Transformer those of one layer, as
// `heed attend` shows them, each for the position whose output is computed from it (align_shift is not applied). Given
// weights have the tokens' share: at each position, and in each head,
//
//   w'_t = w_t (1 - m) / sum_u w_u        m: the model's weight of the end marker
//
// where 1 - m is what the model's weights of the tokens sum to, whatever their alignment. So the model's own weights
// give its own outputs, unless it has several heads or features whose weights differ. Weights whose sum is 0 or not
// finite leave the end marker alone.
//
// All positions have other weights at once. What was written before is the reference, but the state of a recurrent
// decoder contains the contexts of earlier positions: it is that of the other weights. Of a Transformer one layer has
// other weights; its other layers attend as they do, from other queries.

#pragma once

#include <memory>
#include <string>

#include "heed/data/corpus.h"
#include "heed/explain/explained.h"
#include "heed/models/translate/translator.h"

namespace heed {

/// pairs: prepared as the translator was trained (CorpusOptions::lowercase and unescape). Those without a token of the
/// source are left out.
std::unique_ptr<ExplainedModel> explained_translator(const std::string& run, Translator translator,
                                                     const TextPairs& pairs);

/// See load_explained().
std::unique_ptr<ExplainedModel> load_explained_translator(const std::string& run, const ExplainedSet& set,
                                                          at::Device device);

}  // namespace heed
