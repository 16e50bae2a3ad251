#include "heed/models/translate/pair_batch.h"

#include <algorithm>

#include <ATen/ops/zeros.h>

#include "heed/base/check.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

/// One side as a tensor: what stands before, the pieces, what stands after; the rest is padding.
at::Tensor padded_ids(const std::vector<Ids>& side, const Rows& rows, int64_t columns, bool begin, bool end) {
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
at::Tensor kept_ids(const std::vector<Ids>& side, const Rows& rows, int64_t columns) {
  const auto tensor = at::zeros({static_cast<int64_t>(rows.size()), columns}, at::TensorOptions(at::kBool));
  auto* next = tensor.data_ptr<bool>();
  for (const int64_t row : rows) {
    std::fill_n(next, row_width(side, row), true);
    next += columns;
  }
  return tensor;
}

int64_t max_row_width(const std::vector<Ids>& side, const Rows& rows) {
  int64_t max = 0;
  for (const int64_t row : rows) max = std::max(max, row_width(side, row));
  return max;
}

int64_t tokens_of(const std::vector<Ids>& side, const Rows& rows) {
  int64_t sum = 0;
  for (const int64_t row : rows) sum += row_width(side, row);
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

PairBatch collate(const IdPairs& corpus, const Rows& rows, int64_t rank, int64_t world) {
  check_corpus(corpus);
  for (const int64_t row : rows) {
    check(row >= 0 && row < corpus.size(), "models/pair_batch: got row ", row, ", expected 0 to ", corpus.size() - 1);
  }
  const auto [first, count] = share(static_cast<int64_t>(rows.size()), rank, world);
  PairBatch batch;
  batch.rows.assign(rows.begin() + first, rows.begin() + first + count);
  batch.first_row = first;
  const int64_t S = max_row_width(corpus.source, rows);
  batch.source = padded_ids(corpus.source, batch.rows, S, /*begin=*/false, /*end=*/true);
  batch.source_keep = kept_ids(corpus.source, batch.rows, S);
  batch.source_tokens = tokens_of(corpus.source, batch.rows);
  batch.all_source_tokens = tokens_of(corpus.source, rows);
  if (corpus.target.empty()) return batch;
  const int64_t T = max_row_width(corpus.target, rows);
  batch.target_in = padded_ids(corpus.target, batch.rows, T, /*begin=*/true, /*end=*/false);
  batch.target_out = padded_ids(corpus.target, batch.rows, T, /*begin=*/false, /*end=*/true);
  batch.target_keep = kept_ids(corpus.target, batch.rows, T);
  batch.target_tokens = tokens_of(corpus.target, batch.rows);
  batch.all_target_tokens = tokens_of(corpus.target, rows);
  return batch;
}

}  // namespace heed
