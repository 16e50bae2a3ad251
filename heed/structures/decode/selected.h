// Selects batch elements of a decoder's memory, in any order and with repeats: a beam search does so between two steps.

#pragma once

#include "heed/attention/memory.h"
#include "heed/base/check.h"
#include "heed/parameters.h"

namespace heed {

/// Throws Error unless rows is int64 [n] with values 0 ... batch - 1. batch -1: unknown, values are not checked; nor
/// are they on a GPU, where reading them would wait for it.
inline void check_rows(const std::string& who, const Tensor& rows, int64_t batch) {
  check(rows.defined(), who, ": rows are undefined, expected int64 [n]");
  check(rows.scalar_type() == at::kLong && rows.dim() == 1, who, ": rows are ", rows.scalar_type(), " ", shape_of(rows),
        ", expected int64 [n]");
  if (batch < 0 || rows.size(0) == 0 || !rows.device().is_cpu()) return;
  const int64_t low = rows.min().item<int64_t>(), high = rows.max().item<int64_t>();
  check(low >= 0 && high < batch, who, ": rows reach from ", low, " to ", high, ", expected 0 to ", batch - 1);
}

/// The memory of these batch elements; rows: see check_rows.
inline Memory selected(const Memory& memory, const Tensor& rows) {
  const int64_t batch = memory.batch();
  const auto of = [&](const Growing& some) {  // a batch axis of size 1 is broadcast and stays as it is
    return !some.defined() || some.rows().size(0) != batch ? some : some.select(rows);
  };
  Memory chosen;
  chosen.keys = of(memory.keys);
  chosen.align_keys = of(memory.align_keys);
  chosen.packed_keys = of(memory.packed_keys);
  chosen.packed_by = memory.packed_by;
  chosen.values = of(memory.values);
  chosen.keep = of(memory.keep);
  chosen.counted = memory.counted;
  if (memory.key_count.defined()) chosen.key_count = memory.key_count.index_select(0, rows);
  return chosen;
}

}  // namespace heed
