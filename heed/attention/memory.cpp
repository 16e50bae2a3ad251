#include "heed/attention/memory.h"

#include <algorithm>

namespace heed {

Growing Growing::with(const Tensor& more) const {
  if (at::GradMode::is_enabled()) return Growing(at::cat({rows_, more}, 2));

  const int64_t length = rows_.size(2), longer = length + more.size(2);
  Growing grown = *this;
  int64_t mine = length;
  const bool fits =
      capacity_ && longer <= capacity_->rows.size(2) && capacity_->used.compare_exchange_strong(mine, longer);
  if (!fits) {
    auto shape = rows_.sizes().vec();
    shape[2] = std::max<int64_t>(2 * longer, 16);
    grown.capacity_ = std::make_shared<Capacity>();
    grown.capacity_->rows = at::empty(shape, rows_.options());
    grown.capacity_->rows.narrow(2, 0, length).copy_(rows_.detach());
    grown.capacity_->used = longer;
  }
  grown.capacity_->rows.narrow(2, length, more.size(2)).copy_(more.detach());
  grown.rows_ = grown.capacity_->rows.narrow(2, 0, longer);
  return grown;
}

Growing Growing::select(const Tensor& batch) const {
  if (!capacity_ || at::GradMode::is_enabled()) return Growing(rows_.index_select(0, batch));

  auto shape = capacity_->rows.sizes().vec();
  shape[0] = batch.size(0);
  Growing chosen;
  chosen.capacity_ = std::make_shared<Capacity>();
  chosen.capacity_->rows = at::empty(shape, rows_.options());
  chosen.capacity_->used = rows_.size(2);
  chosen.rows_ = chosen.capacity_->rows.narrow(2, 0, rows_.size(2));
  at::index_select_out(chosen.rows_, rows_, 0, batch);
  return chosen;
}

}  // namespace heed
