#include "heed/data/batches.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/shuffle.h"

namespace heed {
namespace {

constexpr int64_t kPoolBatches = 100;  // size of a sorted pool, in batches of mean length

/// Sort key of a pair: widths [target, source], or [source, 0] without targets.
std::pair<int64_t, int64_t> widths(const IdPairs& corpus, int64_t row) {
  if (corpus.target.empty()) return {row_width(corpus.source, row), 0};
  return {row_width(corpus.target, row), row_width(corpus.source, row)};
}

/// Splits pairs sorted by length into batches, in their order.
void split_by_tokens(const IdPairs& corpus, const Rows& sorted, int64_t tokens, int64_t max_rows,
                     std::vector<Rows>& batches) {
  Rows batch;
  int64_t widest = 0;
  for (const int64_t row : sorted) {
    const auto [first, second] = widths(corpus, row);
    const int64_t wider = std::max({widest, first, second}), rows = static_cast<int64_t>(batch.size()) + 1;
    const bool full = rows * wider > tokens || (max_rows > 0 && rows > max_rows);
    if (full && !batch.empty()) {
      batches.push_back(std::move(batch));
      batch.clear();
    }
    widest = batch.empty() ? std::max(first, second) : wider;
    batch.push_back(row);
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

}  // namespace

void check_corpus(const IdPairs& corpus) {
  check(corpus.target.empty() || corpus.target.size() == corpus.source.size(), "data/batches: got ",
        corpus.source.size(), " sentences and ", corpus.target.size(),
        " translations, expected equal numbers, or no translations");
}

RowShare share(int64_t rows, int64_t rank, int64_t world) {
  check(world >= 1 && rank >= 0 && rank < world, "data/batches: got rank ", rank, " of ", world,
        ", expected a rank from 0 to the number of processes - 1");
  const int64_t first = rows * rank / world;
  return {first, rows * (rank + 1) / world - first};
}

std::vector<Rows> batches_by_length(const IdPairs& corpus, int64_t tokens, int64_t max_rows) {
  check_corpus(corpus);
  check(tokens >= 1, "data/batches: got a batch of ", tokens, " tokens, expected 1 or more");
  Rows order;
  for (int64_t row = 0; row < corpus.size(); ++row) order.push_back(row);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return widths(corpus, a) > widths(corpus, b); });
  std::vector<Rows> batches;
  split_by_tokens(corpus, order, tokens, max_rows, batches);
  return batches;
}

Batches::Batches(const IdPairs& corpus, BatchOptions options) : corpus_(corpus), options_(options) {
  check_corpus(corpus);
  check(options.tokens >= 1, "data/batches: got a batch of ", options.tokens, " tokens, expected 1 or more");
  check(options.rows >= 0 && options.max_length >= 0, "data/batches: got rows ", options.rows, " and max_length ",
        options.max_length, ", expected 0 (no limit) or more");
  int64_t sum = 0;
  for (int64_t row = 0; row < corpus.size(); ++row) {
    const auto [first, second] = widths(corpus, row);
    const int64_t wider = std::max(first, second);
    if (options.max_length > 0 && wider - 1 > options.max_length) continue;
    kept_.push_back(row);
    sum += wider;
  }
  check(!kept_.empty(), "data/batches: of ", corpus.size(), " pairs none has at most ", options.max_length,
        " tokens on each side, expected at least one; raise max_length");
  const int64_t by_tokens = std::max<int64_t>(options.tokens * pairs() / sum, 1);  // pairs in a batch of mean length
  pool_ = kPoolBatches * (options.rows > 0 ? std::min(options.rows, by_tokens) : by_tokens);
}

const std::vector<Rows>& Batches::plan(int64_t epoch) const {
  check(epoch >= 0, "data/batches: got epoch ", epoch, ", expected 0 or more");
  if (epoch == planned_) return plan_;
  SplitMix seeds(options_.seed);
  SplitMix random(seeds() ^ static_cast<uint64_t>(epoch) * 0xD1342543DE82EF95U);
  Rows order = kept_;
  shuffle(order, random);
  plan_.clear();
  for (size_t from = 0; from < order.size(); from += static_cast<size_t>(pool_)) {
    const size_t past = std::min(from + static_cast<size_t>(pool_), order.size());
    Rows pool(order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(past));
    std::stable_sort(pool.begin(), pool.end(),
                     [&](int64_t a, int64_t b) { return widths(corpus_, a) < widths(corpus_, b); });
    split_by_tokens(corpus_, pool, options_.tokens, options_.rows, plan_);
  }
  shuffle(plan_, random);
  planned_ = epoch;
  return plan_;
}

int64_t Batches::count(int64_t epoch) const {
  return static_cast<int64_t>(plan(epoch).size());
}

const Rows& Batches::rows(int64_t epoch, int64_t index) const {
  const auto& all = plan(epoch);
  check(index >= 0 && index < static_cast<int64_t>(all.size()), "data/batches: got batch ", index, " of epoch ", epoch,
        ", expected 0 to ", static_cast<int64_t>(all.size()) - 1);
  return all[static_cast<size_t>(index)];
}

}  // namespace heed
