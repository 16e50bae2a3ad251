#include "heed/data/batches.h"

#include <algorithm>
#include <utility>

#include <ATen/ops/zeros.h>

#include "heed/base/check.h"
#include "heed/base/shuffle.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

constexpr int64_t kPoolBatches = 100;  // as many batches of mean length are sorted together

int64_t width(const std::vector<Ids>& side, int64_t row) {
  return static_cast<int64_t>(side[static_cast<size_t>(row)].size()) + 1;  // with </s>
}

void check_corpus(const IdPairs& corpus) {
  check(corpus.target.empty() || corpus.target.size() == corpus.source.size(), "data/batches: got ",
        corpus.source.size(), " sentences and ", corpus.target.size(),
        " translations, expected as many, or no translations");
}

/// The two widths of a row, the one that fills batches first: [target, source], or [source, 0] without targets.
std::pair<int64_t, int64_t> widths(const IdPairs& corpus, int64_t row) {
  if (corpus.target.empty()) return {width(corpus.source, row), 0};
  return {width(corpus.target, row), width(corpus.source, row)};
}

/// Cuts rows that are sorted by length, in their order.
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

/// One side as a tensor: what stands before, the pieces, what stands after; the rest is padding.
at::Tensor padded(const std::vector<Ids>& side, const Rows& rows, int64_t columns, bool begin, bool end) {
  const auto tensor = at::zeros({static_cast<int64_t>(rows.size()), columns}, at::TensorOptions(at::kLong));
  static_assert(Tokenizer::kPad == 0);
  auto* next = tensor.data_ptr<int64_t>();
  for (const int64_t row : rows) {
    const Ids& ids = side[static_cast<size_t>(row)];
    if (begin) *next = Tokenizer::kBegin;
    std::copy(ids.begin(), ids.end(), next + (begin ? 1 : 0));
    if (end) next[ids.size()] = Tokenizer::kEnd;
    next += columns;
  }
  return tensor;
}

/// True at the pieces and the one </s> or <s> beside them.
at::Tensor kept(const std::vector<Ids>& side, const Rows& rows, int64_t columns) {
  const auto tensor = at::zeros({static_cast<int64_t>(rows.size()), columns}, at::TensorOptions(at::kBool));
  auto* next = tensor.data_ptr<bool>();
  for (const int64_t row : rows) {
    std::fill_n(next, width(side, row), true);
    next += columns;
  }
  return tensor;
}

int64_t widest(const std::vector<Ids>& side, const Rows& rows) {
  int64_t max = 0;
  for (const int64_t row : rows) max = std::max(max, width(side, row));
  return max;
}

int64_t tokens_of(const std::vector<Ids>& side, const Rows& rows) {
  int64_t sum = 0;
  for (const int64_t row : rows) sum += width(side, row);
  return sum;
}

}  // namespace

PairBatch PairBatch::to(at::Device device) const {
  const auto moved = [&](const at::Tensor& tensor) { return tensor.defined() ? tensor.to(device) : tensor; };
  PairBatch batch = *this;
  for (auto* tensor : {&batch.source, &batch.source_keep, &batch.target_in, &batch.target_out, &batch.target_keep}) {
    *tensor = moved(*tensor);
  }
  return batch;
}

RowShare share(int64_t rows, int64_t rank, int64_t world) {
  check(world >= 1 && rank >= 0 && rank < world, "data/batches: got rank ", rank, " of ", world,
        ", expected a rank from 0 to the number of processes - 1");
  const int64_t first = rows * rank / world;
  return {first, rows * (rank + 1) / world - first};
}

PairBatch collate(const IdPairs& corpus, const Rows& rows, int64_t rank, int64_t world) {
  check_corpus(corpus);
  for (const int64_t row : rows) {
    check(row >= 0 && row < corpus.size(), "data/batches: got row ", row, ", expected 0 to ", corpus.size() - 1);
  }
  const auto [first, count] = share(static_cast<int64_t>(rows.size()), rank, world);
  PairBatch batch;
  batch.rows.assign(rows.begin() + first, rows.begin() + first + count);
  batch.first_row = first;
  const int64_t S = widest(corpus.source, rows);
  batch.source = padded(corpus.source, batch.rows, S, /*begin=*/false, /*end=*/true);
  batch.source_keep = kept(corpus.source, batch.rows, S);
  batch.source_tokens = tokens_of(corpus.source, batch.rows);
  batch.all_source_tokens = tokens_of(corpus.source, rows);
  if (corpus.target.empty()) return batch;
  const int64_t T = widest(corpus.target, rows);
  batch.target_in = padded(corpus.target, batch.rows, T, /*begin=*/true, /*end=*/false);
  batch.target_out = padded(corpus.target, batch.rows, T, /*begin=*/false, /*end=*/true);
  batch.target_keep = kept(corpus.target, batch.rows, T);
  batch.target_tokens = tokens_of(corpus.target, batch.rows);
  batch.all_target_tokens = tokens_of(corpus.target, rows);
  return batch;
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
  check(options.rows >= 0 && options.max_length >= 0, "data/batches: rows are ", options.rows, " and longest is ",
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
        " pieces on each side, expected some");
  const int64_t by_tokens = std::max<int64_t>(options.tokens * pairs() / sum, 1);  // rows in a batch of mean length
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

PairBatch Batches::batch(int64_t epoch, int64_t index, int64_t rank, int64_t world) const {
  return collate(corpus_, rows(epoch, index), rank, world);
}

}  // namespace heed
