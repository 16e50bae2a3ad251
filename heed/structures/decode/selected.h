// Some batch rows of what a decoder remembers, in any order and as often as wanted: what a beam search needs between
// two steps.

#pragma once

#include "heed/attention/memory.h"

namespace heed {

/// rows int64 [n].
inline Memory selected(const Memory& memory, const Tensor& rows) {
  const int64_t batch = memory.batch();
  const auto of = [&](const Growing& some) {  // one row that stands for every batch row stays as it is
    return !some.defined() || some.rows().size(0) != batch ? some : Growing(some.rows().index_select(0, rows));
  };
  Memory chosen;
  chosen.keys = of(memory.keys);
  chosen.align_keys = of(memory.align_keys);
  chosen.kernel_keys = of(memory.kernel_keys);
  chosen.values = of(memory.values);
  chosen.keep = of(memory.keep);
  if (memory.key_count.defined()) chosen.key_count = memory.key_count.index_select(0, rows);
  return chosen;
}

}  // namespace heed
