#include "heed/kernels/cpu/train/flat_step.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // parameters of a task: their arrays fit the second cache

/// A range of parameters whose gradients lie together.
template <typename Real>
struct Piece {
  int64_t first, count;
  const Real* grads;
};

template <typename Real>
std::vector<Piece<Real>> pieces_of(const FlatStep<Real>& step) {
  std::vector<Piece<Real>> all;
  int64_t first = 0;
  for (const auto& part : step.grads) {
    for (int64_t done = 0; done < part.count; done += kPiece)
      all.push_back({first + done, std::min(kPiece, part.count - done), part.at == nullptr ? nullptr : part.at + done});
    first += part.count;
  }
  return all;
}

}  // namespace

template <typename Real>
FlatStats flat_step(const FlatStep<Real>& step, bool change, const ParallelFor& parallel_for) {
  const auto& kernels = train_kernels<Real>();
  const auto pieces = pieces_of(step);
  const auto tasks = static_cast<int64_t>(pieces.size());
  std::vector<double> squares(pieces.size(), 0);
  parallel_for(tasks, [&](int64_t i) {
    const auto& piece = pieces[static_cast<size_t>(i)];
    if (piece.grads != nullptr) squares[static_cast<size_t>(i)] = kernels.sum_of_squares(piece.grads, piece.count);
  });
  double sum = 0;
  for (const double x : squares) sum += x;
  FlatStats stats{step.loss * step.scale, std::sqrt(sum) * std::abs(step.scale), true};
  stats.finite = std::isfinite(stats.loss) && std::isfinite(stats.norm);
  if (!stats.finite || !change) return stats;

  const double clip = step.clip_norm > 0 && stats.norm > step.clip_norm ? step.clip_norm / stats.norm : 1;
  const bool adam = step.rule == FlatRule::adam;
  const UpdateNumbers<Real> numbers{.scale = static_cast<Real>(step.scale * clip),
                                    .keep = static_cast<Real>(1 - step.rate * step.decay),
                                    .rate = static_cast<Real>(adam ? step.rate / step.first_share : step.rate),
                                    .root = static_cast<Real>(1 / step.second_root),
                                    .beta1 = static_cast<Real>(step.beta1),
                                    .rest1 = static_cast<Real>(1 - step.beta1),
                                    .beta2 = static_cast<Real>(step.beta2),
                                    .rest2 = static_cast<Real>(1 - step.beta2),
                                    .epsilon = static_cast<Real>(step.epsilon),
                                    .average_weight = static_cast<Real>(step.average_weight)};
  const auto from = [](Real* array, int64_t first) { return array == nullptr ? nullptr : array + first; };
  parallel_for(tasks, [&](int64_t i) {
    const auto& piece = pieces[static_cast<size_t>(i)];
    kernels.update(step.rule, numbers,
                   {.count = piece.count,
                    .values = step.values + piece.first,
                    .grads = piece.grads,
                    .first = from(step.first, piece.first),
                    .second = from(step.second, piece.first),
                    .average = from(step.average, piece.first)});
  });
  return stats;
}

template FlatStats flat_step(const FlatStep<float>&, bool, const ParallelFor&);
template FlatStats flat_step(const FlatStep<double>&, bool, const ParallelFor&);

}  // namespace heed::kernels::cpu
