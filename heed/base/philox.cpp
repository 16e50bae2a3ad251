#include "heed/base/philox.h"

namespace heed {

void uniforms(uint64_t seed, uint64_t stream, uint32_t purpose, uint32_t row_and_head, uint32_t query, int64_t count,
              float* out) {
  for (int64_t first = 0; first < count; first += 4) {
    const Philox four =
        philox(seed, static_cast<uint32_t>(first / 4), query, row_and_head, stream_word(stream, purpose));
    for (int64_t lane = 0; lane < 4 && first + lane < count; ++lane) out[first + lane] = unit(four.word[lane]);
  }
}

}  // namespace heed
