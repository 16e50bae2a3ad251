// Internal: one block of a call with torch operations, on any device.

#pragma once

#include <vector>

#include "heed/backend/record.h"

namespace heed {

/// One block of a call.
struct Block {
  BlockRange range;
  std::vector<int64_t> rows;  // queries whose weights are requested, counted within the block
  Tensor links;               // [n, 4], counted within the block
};

/// score -> scale -> soft cap -> bias -> mask -> align -> dropout -> weighted sum. `in`: the tensors of the block, by
/// Slot; those of the record are not read. Returns the outputs, by Output.
Tensors run_block(const backend::CallRecord& record, const Block& block, const Tensors& in);

}  // namespace heed
