// Texts as tensors, many at once. An example has one text or several, its columns; each is a sequence of tokens, or a
// document of sentences:
//
//   text        ids [B, L]       keep [B, L]
//   document    ids [B, S, L]    keep [B, S, L]

#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "heed/data/batches.h"

namespace heed {

/// Token ids of a text, sentence by sentence; a text that is not a document is one sentence.
using TextIds = std::vector<Ids>;

/// Token ids of examples.
struct ExampleIds {
  std::vector<std::vector<TextIds>> columns{};  // [column][example]
  bool documents = false;                       // whether texts are documents

  int64_t size() const { return columns.empty() ? 0 : static_cast<int64_t>(columns.front().size()); }
  /// As many ids for each example as its texts have tokens, a document as many as it has with its sentences padded to
  /// the longest: for grouping examples into batches. The ids themselves say nothing.
  IdPairs lengths() const;
};

struct TextBatch {
  struct Column {
    at::Tensor ids, keep;  // int64 and bool, [B, L] or [B, S, L]
  };
  std::vector<Column> columns{};
  Rows rows{};            // examples, in the order of B
  int64_t first_row = 0;  // position of row 0 in the whole batch, for noise that is drawn by row
  int64_t tokens = 0;     // of these rows, without padding

  TextBatch to(at::Device device) const;
};

/// Sizes that columns are padded to at least: {S, L} of each. Empty: none.
using MinSizes = std::vector<std::pair<int64_t, int64_t>>;

/// Tensors for these examples, or for a process' share of them, padded to the sizes of the whole batch. An empty text
/// is one padded token.
TextBatch collate(const ExampleIds& examples, const Rows& rows, int64_t rank = 0, int64_t world = 1,
                  const MinSizes& min_sizes = {});

}  // namespace heed
