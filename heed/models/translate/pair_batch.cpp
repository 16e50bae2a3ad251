#include "heed/models/translate/pair_batch.h"

#include <algorithm>

#include <ATen/ops/zeros.h>

#include "heed/base/check.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

/// One side in a tensor of zeros: what stands before, the pieces, what stands after; the rest is padding.
void fill_ids(const at::Tensor& tensor, const std::vector<Ids>& side, const Rows& rows, bool begin, bool end) {
  static_assert(Tokenizer::kPad == 0);
  auto* next = tensor.data_ptr<int64_t>();
  for (const int64_t row : rows) {
    const Ids& ids = side[static_cast<size_t>(row)];
    if (begin) *next = Tokenizer::kBegin;
    std::copy(ids.begin(), ids.end(), next + (begin ? 1 : 0));
    if (end) next[ids.size()] = Tokenizer::kEnd;
    next += tensor.size(1);
  }
}

/// True at the pieces and the one </s> or <s> beside them, in a tensor of zeros.
void fill_keep(const at::Tensor& tensor, const std::vector<Ids>& side, const Rows& rows) {
  auto* next = tensor.data_ptr<bool>();
  for (const int64_t row : rows) {
    std::fill_n(next, row_width(side, row), true);
    next += tensor.size(1);
  }
}

/// Where the targets are that fill_keep() marks, in [B T].
void fill_real(const at::Tensor& real, const std::vector<Ids>& side, const Rows& rows, int64_t columns) {
  auto* next = real.data_ptr<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t t = 0; t < row_width(side, rows[i]); ++t) *next++ = static_cast<int64_t>(i) * columns + t;
}

/// Tensors one after another in a buffer. What has the largest elements comes first, so that all are aligned.
class Views {
 public:
  explicit Views(const at::Tensor& buffer) : buffer_(buffer) {}
  at::Tensor next(at::IntArrayRef shape, at::ScalarType type) {
    int64_t count = static_cast<int64_t>(at::elementSize(type));
    for (const int64_t size : shape) count *= size;
    const auto bytes = buffer_.narrow(0, from_, count);
    from_ += count;
    return bytes.view(type).view(shape);
  }

 private:
  at::Tensor buffer_;
  int64_t from_ = 0;
};

int64_t rounded_up(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
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
  if (device == source.device()) return *this;
  return in(buffer.to(device, /*non_blocking=*/buffer.device().is_cpu() && buffer.is_pinned()));
}

PairBatch PairBatch::in(const at::Tensor& other) const {
  PairBatch batch = *this;
  batch.buffer = other;
  Views views(other);
  for (auto* tensor :
       {&batch.source, &batch.target_in, &batch.target_out, &batch.real, &batch.source_keep, &batch.target_keep})
    if (tensor->defined()) *tensor = views.next(tensor->sizes(), tensor->scalar_type());
  return batch;
}

PairBatch collate(const IdPairs& corpus, const Rows& rows, int64_t rank, int64_t world, const BatchForm& form) {
  check_corpus(corpus);
  for (const int64_t row : rows) {
    check(row >= 0 && row < corpus.size(), "models/pair_batch: got row ", row, ", expected 0 to ", corpus.size() - 1);
  }
  const auto [first, count] = share(static_cast<int64_t>(rows.size()), rank, world);
  const bool targets = !corpus.target.empty();
  PairBatch batch;
  batch.rows.assign(rows.begin() + first, rows.begin() + first + count);
  batch.first_row = first;
  batch.one_shape = form.one_shape;
  batch.source_tokens = tokens_of(corpus.source, batch.rows);
  batch.all_source_tokens = tokens_of(corpus.source, rows);
  batch.target_tokens = targets ? tokens_of(corpus.target, batch.rows) : 0;
  batch.all_target_tokens = targets ? tokens_of(corpus.target, rows) : 0;

  const int64_t B = rounded_up(count, form.rows), S = rounded_up(max_row_width(corpus.source, rows), form.length),
                T = targets ? rounded_up(max_row_width(corpus.target, rows), form.length) : 0;
  const int64_t n = form.one_shape ? 0 : batch.target_tokens;
  const int64_t numbers = B * S + 2 * B * T + n, flags = B * (S + T);
  batch.buffer = at::zeros({numbers * static_cast<int64_t>(sizeof(int64_t)) + flags},
                           at::TensorOptions(at::kByte).pinned_memory(form.pinned));
  Views views(batch.buffer);
  batch.source = views.next({B, S}, at::kLong);
  if (targets) {
    batch.target_in = views.next({B, T}, at::kLong);
    batch.target_out = views.next({B, T}, at::kLong);
    if (!form.one_shape) batch.real = views.next({n}, at::kLong);
  }
  batch.source_keep = views.next({B, S}, at::kBool);
  fill_ids(batch.source, corpus.source, batch.rows, /*begin=*/false, /*end=*/true);
  fill_keep(batch.source_keep, corpus.source, batch.rows);
  if (!targets) return batch;
  batch.target_keep = views.next({B, T}, at::kBool);
  fill_ids(batch.target_in, corpus.target, batch.rows, /*begin=*/true, /*end=*/false);
  fill_ids(batch.target_out, corpus.target, batch.rows, /*begin=*/false, /*end=*/true);
  fill_keep(batch.target_keep, corpus.target, batch.rows);
  if (batch.real.defined()) fill_real(batch.real, corpus.target, batch.rows, T);
  return batch;
}

}  // namespace heed
