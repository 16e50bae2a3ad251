#include "heed/explain/predicted.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "heed/base/philox.h"

namespace heed {
namespace {

Tensor flipped(const Tensor& outputs, const Tensor& whole, bool several) {
  if (several) return (outputs > 0.5).logical_xor(whole > 0.5).any(-1);
  return outputs.argmax(-1).ne(whole.argmax(-1));
}

}  // namespace

Tensor predicted_classes(const ExplainedBatch& batch) {
  return at::where(batch.positions, batch.outputs.argmax(-1),
                   at::zeros({}, batch.positions.options().dtype(at::kLong)));
}

Tensor answers_in(const ExplainedBatch& batch, const Tensor& rows, const Tensor& outputs) {
  const Tensor classes = predicted_classes(batch).unsqueeze(-1);
  const Tensor side = at::where(batch.outputs.gather(-1, classes) < 0, at::full({}, -1., outputs.options()),
                                at::full({}, 1., outputs.options()));
  return (outputs.gather(-1, classes.index_select(0, rows)) * side.index_select(0, rows)).squeeze(-1);
}

std::vector<int64_t> token_slots(const ExplainedBatch& batch, int64_t row) {
  const Tensor keep = batch.keep.select(0, row).cpu().contiguous();
  const bool* const kept = keep.data_ptr<bool>();
  std::vector<int64_t> slots;
  for (int64_t t = 0; t < keep.size(0); ++t)
    if (kept[t]) slots.push_back(t);
  return slots;
}

Tensor without_padding(const ExplainedBatch& batch, const Tensor& scores) {
  const Tensor there = batch.keep.unsqueeze(1).logical_and(batch.positions.unsqueeze(-1));
  return at::where(there, scores.to(at::kFloat), at::zeros({}, scores.options().dtype(at::kFloat)));
}

Tensor gradients_along(ExplainedBatch& batch, const Tensor& rows, const Tensor& embedded, const Tensor& direction) {
  const int64_t N = embedded.size(0), T = embedded.size(1), P = batch.positions.size(1);
  const Tensor found = at::zeros({N, P, T}, embedded.options().dtype(at::kFloat));
  if (found.numel() == 0) return found;
  const at::AutoGradMode with_gradients(true);
  const Tensor input = embedded.detach().clone().requires_grad_(true);
  const Tensor chosen = answers_in(batch, rows, batch.outputs_from(rows, input, /*fixed_weights=*/false));
  if (!chosen.requires_grad()) return found;  // nothing depends on embeddings
  for (int64_t p = 0; p < P; ++p) {
    const Tensor gradient = torch::autograd::grad({chosen.select(1, p).sum()}, {input}, {}, /*retain_graph=*/p + 1 < P,
                                                  /*create_graph=*/false, /*allow_unused=*/true)[0];
    if (gradient.defined()) found.select(1, p).copy_((gradient.detach() * direction).sum(-1));
  }
  return found;
}

std::vector<ErasedOutput> read_erased(ExplainedBatch& batch, const std::vector<ErasedText>& texts, bool several,
                                      int64_t numbers_at_once) {
  const at::NoGradGuard no_gradients;
  const int64_t T = batch.tokens(), P = batch.positions.size(1);
  const int64_t at_once = std::max<int64_t>(1, numbers_at_once / std::max<int64_t>({1, T, P * batch.outputs.size(-1)}));
  // Texts of a chunk have about as many tokens left, so that little of it is padding.
  const Tensor counts = batch.keep.sum(-1).cpu().contiguous();
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto left = [&](size_t i) { return counts.data_ptr<int64_t>()[texts[i].row] - std::ssize(texts[i].removed); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return left(a) < left(b); });

  std::vector<ErasedOutput> all(texts.size());
  for (int64_t first = 0; first < std::ssize(order); first += at_once) {
    const int64_t count = std::min(at_once, std::ssize(order) - first);
    const Tensor rows = at::empty({count}, at::kLong), removed = at::zeros({count, T}, at::kBool);
    for (int64_t n = 0; n < count; ++n) {
      const ErasedText& text = texts[order[static_cast<size_t>(first + n)]];
      rows.data_ptr<int64_t>()[n] = text.row;
      for (const int64_t slot : text.removed) removed.data_ptr<bool>()[n * T + slot] = true;
    }
    const Tensor row = rows.to(batch.keep.device());
    const Tensor outputs = batch.outputs_without(row, removed.to(batch.keep.device()));
    const Tensor found = answers_in(batch, row, outputs).to(at::kDouble).cpu().contiguous();
    const Tensor flips = flipped(outputs, batch.outputs.index_select(0, row), several).cpu().contiguous();
    for (int64_t n = 0; n < count; ++n) {
      ErasedOutput& one = all[order[static_cast<size_t>(first + n)]];
      one.probability.assign(found.data_ptr<double>() + n * P, found.data_ptr<double>() + (n + 1) * P);
      one.flipped.assign(flips.data_ptr<bool>() + n * P, flips.data_ptr<bool>() + (n + 1) * P);
    }
  }
  return all;
}

std::vector<double> drawn_numbers(DrawnFor purpose, uint64_t seed, size_t item, int64_t position, int64_t count) {
  std::vector<float> drawn(static_cast<size_t>(count));
  uniforms(seed, static_cast<uint64_t>(purpose), kPolicy, static_cast<uint32_t>(item), static_cast<uint32_t>(position),
           count, drawn.data());
  return {drawn.begin(), drawn.end()};
}

}  // namespace heed
