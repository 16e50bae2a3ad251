#include "heed/models/translate/top_tokens.h"

#include <ATen/ATen.h>

namespace heed {
namespace {

constexpr int64_t kBlock = 128;  // columns

}  // namespace

std::pair<at::Tensor, at::Tensor> top_tokens(const at::Tensor& log_p, int64_t count) {
  if (count == 1) {
    auto [best, which] = log_p.max(1, /*keepdim=*/true);
    return {best, which};
  }
  const int64_t rows = log_p.size(0), columns = log_p.size(1), blocks = columns / kBlock;
  if (blocks < 4 * count) {  // most of a row would be selected
    auto [best, which] = log_p.topk(count, 1);
    return {best, which};
  }
  const auto blocked = log_p.narrow(1, 0, blocks * kBlock).unflatten(1, {blocks, kBlock});  // [rows, blocks, 128]
  const auto chosen = std::get<1>(blocked.amax(2).topk(count, 1, true, /*sorted=*/false));  // [rows, count]
  const auto first = chosen * kBlock;                                                       // [rows, count]
  const auto ids = first.unsqueeze(2) + at::arange(kBlock, chosen.options());               // [rows, count, 128]
  const auto inside = blocked.gather(1, chosen.unsqueeze(2).expand({rows, count, kBlock})).flatten(1);
  const int64_t rest = columns - blocks * kBlock;
  if (rest == 0) {
    auto [best, at] = inside.topk(count, 1);
    return {best, ids.flatten(1).gather(1, at)};
  }
  const auto last = at::arange(blocks * kBlock, columns, chosen.options()).expand({rows, rest});
  auto [best, at] = at::cat({inside, log_p.narrow(1, blocks * kBlock, rest)}, 1).topk(count, 1);
  return {best, at::cat({ids.flatten(1), last}, 1).gather(1, at)};
}

}  // namespace heed
