// Groups sentence pairs into batches of token ids. heed/models/translate/pair_batch.h turns a batch into tensors.
//
// An epoch contains every pair once, in an order that depends on (seed, epoch) alone: pairs are shuffled; pools of them
// are sorted by length, so that the pairs of a batch have similar lengths and little padding; each pool is split into
// batches by token count; and the batches are shuffled. Several processes share every batch: each takes a contiguous
// range of its pairs and pads them to the widths of the whole batch, so that two processes compute what one would.
//
// An empty sentence becomes </s> alone. A pair with more than `max_length` tokens on a side is left out and counted. A
// pair with more than `tokens` tokens forms a batch of its own.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed {

using Ids = std::vector<int64_t>;   // token ids of a sentence
using Rows = std::vector<int64_t>;  // indices of sentence pairs in a corpus

/// Token ids of a corpus, without <s> and </s>, which are added in the batch. `target` is empty if the corpus is only
/// to be translated.
struct IdPairs {
  std::vector<Ids> source{}, target{};
  int64_t size() const { return static_cast<int64_t>(source.size()); }
};

/// Throws an Error unless `target` is empty or as long as `source`.
void check_corpus(const IdPairs& corpus);
/// Tokens of sentence `row`, including </s>.
inline int64_t row_width(const std::vector<Ids>& side, int64_t row) {
  return static_cast<int64_t>(side[static_cast<size_t>(row)].size()) + 1;
}

/// The contiguous range of a batch that process `rank` of `world` takes. Sizes differ by at most 1; may be empty.
struct RowShare {
  int64_t first, count;
};
RowShare share(int64_t rows, int64_t rank, int64_t world);

/// Every pair once, the longest first, split by token count: for validation and translation. The indices tell to which
/// sentence a result belongs. max_rows: largest number of pairs per batch; 0: no limit.
std::vector<Rows> batches_by_length(const IdPairs& corpus, int64_t tokens, int64_t max_rows = 0);

struct BatchOptions {
  int64_t tokens = 4096;   // per batch, including padding: the larger of rows * S and rows * T
  int64_t rows = 0;        // largest number of pairs per batch; 0: no limit
  int64_t max_length = 0;  // largest number of tokens per side; 0: no limit
  uint64_t seed = 1;
};

/// The batches of each epoch. Keeps a reference to the corpus, which must outlive this object.
class Batches {
 public:
  Batches(const IdPairs& corpus, BatchOptions options);

  /// Number of batches in the epoch.
  int64_t count(int64_t epoch) const;
  /// Indices of the pairs in batch `index`; valid until another epoch is requested.
  const Rows& rows(int64_t epoch, int64_t index) const;

  /// Pairs that are used, and pairs left out because of max_length.
  int64_t pairs() const { return static_cast<int64_t>(kept_.size()); }
  int64_t left_out() const { return corpus_.size() - pairs(); }

 private:
  const std::vector<Rows>& plan(int64_t epoch) const;

  const IdPairs& corpus_;
  BatchOptions options_;
  Rows kept_;
  int64_t pool_ = 0;  // number of pairs sorted together
  mutable int64_t planned_ = -1;
  mutable std::vector<Rows> plan_;  // batches of epoch planned_
};

}  // namespace heed
