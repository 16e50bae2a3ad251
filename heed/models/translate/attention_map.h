// Any attention of a translator as weights between words: cross-attention, and self-attention of a Transformer's
// encoder and decoder, by layer and head.
//
//   cross     rows: words of the target             columns: words of the source, </s>
//   encoder   rows: words of the source, </s>       columns: the same
//   decoder   rows: words of the target, </s>       columns: <s>, words of the target
//
// A row of the decoder is the step that writes its word, so its weights are on what was written before: <s> for the
// first word. The weights are those of one pass over the whole translation (teacher forcing).

#pragma once

#include <string>
#include <vector>

#include "heed/models/translate/translator.h"

namespace heed {

enum class AttentionKind { cross, encoder, decoder };

struct AttentionChoice {
  AttentionKind kind = AttentionKind::cross;
  int64_t layer = 0;  // from 1; 0: of cross-attention the layer that aligns, of self-attention the last
  int64_t head = 0;   // from 1; 0: the mean over heads
};

/// Weights between words: the sum over the tokens of a column's word, the mean over the tokens of a row's word.
struct AttentionMap {
  std::vector<std::string> source_words{}, target_words{};  // without markers
  std::vector<std::string> rows{}, columns{};               // queries and keys, with markers
  WeightRows weights{};                                     // [row][column]
  int64_t layer = 0, layers = 0;                            // from 1, and how many there are; 0: nothing was computed
  int64_t head = 0, heads = 0;                              // head 0: the mean over heads
};

/// One map for each source; targets: given translations, or none for the translator's own. A source without tokens
/// gives a map without rows and columns. Cross-attention of a model whose attention has no weights (`fixed`) is drawn
/// with equal weights. Refuses a layer or a head that is not there, and self-attention of a recurrent model.
std::vector<AttentionMap> attention_maps(Translator& translator, const std::vector<std::string>& sources,
                                         const std::vector<std::string>& targets, const SearchOptions& options = {},
                                         const AttentionChoice& choice = {});

}  // namespace heed
