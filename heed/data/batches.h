// Which sentences go into a batch together. heed/models/translate/pair_batch.h makes tensors of a batch.
//
// An epoch shows every pair once, in an order that depends on (seed, epoch) alone: pairs are shuffled; pools of them
// are sorted by length, so that the pairs of a batch are about as long and padding is rare; batches are cut by tokens;
// and the batches are shuffled. Several processes share every batch: each takes a run of its rows and pads them to the
// widths of the whole batch, so that two processes compute what one would.
//
// A sentence of no pieces is a row with nothing but </s>. A pair with a side of more than `longest` pieces is left out
// and counted. A pair with more than `tokens` pieces is a batch of its own.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed {

using Ids = std::vector<int64_t>;   // the pieces of a sentence
using Rows = std::vector<int64_t>;  // sentences of a corpus, by number

/// Without <s> and </s>; they are added in the batch. No targets: only to be translated.
struct IdPairs {
  std::vector<Ids> source{}, target{};
  int64_t size() const { return static_cast<int64_t>(source.size()); }
};

/// Refuses a corpus with another number of translations than sentences, unless it has no translations.
void check_corpus(const IdPairs& corpus);
/// Tokens of a row with </s>.
inline int64_t row_width(const std::vector<Ids>& side, int64_t row) {
  return static_cast<int64_t>(side[static_cast<size_t>(row)].size()) + 1;
}

/// The rows of `rank` of `world` processes: a run of them, as equal as can be; may be empty.
struct RowShare {
  int64_t first, count;
};
RowShare share(int64_t rows, int64_t rank, int64_t world);

/// Every row once, the longest first, cut by tokens: to validate and to translate. Rows say where a result belongs.
std::vector<Rows> batches_by_length(const IdPairs& corpus, int64_t tokens, int64_t max_rows = 0);

struct BatchOptions {
  int64_t tokens = 4096;   // of a batch, padding included: rows * S or rows * T, whichever is more
  int64_t rows = 0;        // at most so many rows; 0: no limit
  int64_t max_length = 0;  // pieces of a side; 0: no limit
  uint64_t seed = 1;
};

/// Holds on to the corpus, which must outlive it.
class Batches {
 public:
  Batches(const IdPairs& corpus, BatchOptions options);

  int64_t count(int64_t epoch) const;
  const Rows& rows(int64_t epoch, int64_t index) const;

  int64_t pairs() const { return static_cast<int64_t>(kept_.size()); }
  int64_t left_out() const { return corpus_.size() - pairs(); }

 private:
  const std::vector<Rows>& plan(int64_t epoch) const;

  const IdPairs& corpus_;
  BatchOptions options_;
  Rows kept_;
  int64_t pool_ = 0;  // pairs sorted together
  mutable int64_t planned_ = -1;
  mutable std::vector<Rows> plan_;  // of the epoch last asked for
};

}  // namespace heed
