#include "heed/attention/positions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <torch/nn/init.h>

#include "heed/base/check.h"
#include "heed/parameters.h"
#include "heed/torch_support/send.h"

namespace heed {
namespace {

/// Angles p r_i, [count, pairs], in double: a float angle has an error of 1e-4 at position 2000.
Tensor angles(int64_t count, int64_t first, const Tensor& rates) {
  const auto positions = at::arange(first, first + count, rates.options());
  return positions.unsqueeze(1) * rates.unsqueeze(0);
}

/// base^(-i / of), i = 0 ... pairs - 1.
Tensor rates(int64_t pairs, double of, double base, const at::Device& device) {
  const auto i = at::arange(pairs, at::TensorOptions().dtype(at::kDouble).device(device));
  return at::exp(i * (-std::log(base) / of));
}

at::TensorOptions or_float(const at::TensorOptions& options) {
  return options.has_dtype() ? options : options.dtype(at::kFloat);
}

}  // namespace

Tensor sinusoidal_positions(int64_t count, int64_t width, Layout layout, int64_t first,
                            const at::TensorOptions& options, double base) {
  check(count >= 0 && width > 0, "positions: ", count, " positions of width ", width, "; expected a width above 0");
  const int64_t pairs = (width + 1) / 2;
  if (layout == Layout::interleaved) {
    const auto rotated = angles(count, first, rates(pairs, static_cast<double>(width) / 2, base, options.device()));
    const auto both = at::stack({rotated.sin(), rotated.cos()}, -1).flatten(1);  // [count, 2 pairs]
    return both.narrow(1, 0, width).to(or_float(options));
  }
  check(width % 2 == 0, "positions: got width ", width, " with layout halves, expected an even width");
  const double of = pairs > 1 ? static_cast<double>(pairs - 1) : 1;
  const auto rotated = angles(count, first, rates(pairs, of, base, options.device()));
  return at::cat({rotated.sin(), rotated.cos()}, 1).to(or_float(options));
}

Tensor rotated(const Tensor& x, int64_t first, Layout layout, double base) {
  check(x.defined() && x.dim() >= 2, "positions: rotary got ", shape_of(x), ", expected [..., L, D]");
  const int64_t width = x.size(-1);
  check(width % 2 == 0, "positions: rotary got ", width, " features, expected an even number");
  const auto rotated =
      angles(x.size(-2), first, rates(width / 2, static_cast<double>(width) / 2, base, x.device()));  // [L, D/2]
  const auto cos = rotated.cos().to(x.scalar_type()), sin = rotated.sin().to(x.scalar_type());
  if (layout == Layout::halves) {
    const auto a = x.narrow(-1, 0, width / 2), b = x.narrow(-1, width / 2, width / 2);
    return at::cat({a * cos - b * sin, a * sin + b * cos}, -1);
  }
  const auto pairs = x.unflatten(-1, {width / 2, 2});
  const auto a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  return at::stack({a * cos - b * sin, a * sin + b * cos}, -1).flatten(-2);
}

Tensor alibi_slopes(int64_t heads, const at::TensorOptions& options) {
  check(heads >= 1, "positions: alibi for ", heads, " heads, expected at least 1");
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int64_t h = 1; h <= power; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(power)));
  for (int64_t h = 1; static_cast<int64_t>(slopes.size()) < heads; h += 2)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(2 * power)));
  const auto here = to_send({heads}, at::kDouble, options.device());
  std::copy(slopes.begin(), slopes.end(), here.data_ptr<double>());
  return send(here, options.device()).to(or_float(options));
}

LearnedPositionsImpl::LearnedPositionsImpl(int64_t positions, int64_t width) : positions_(positions), width_(width) {
  check(positions > 0 && width > 0, "positions: a table of ", positions, " positions of width ", width,
        "; expected more than 0 of both");
  reset();
}

void LearnedPositionsImpl::reset() {
  table_ = register_parameter("table", torch::nn::init::normal_(at::empty({positions_, width_}), 0, 0.02));
}

void LearnedPositionsImpl::pretty_print(std::ostream& stream) const {
  stream << "heed::LearnedPositions(" << positions_ << " positions, width " << width_ << ")";
}

Tensor LearnedPositionsImpl::forward(int64_t count, int64_t first) const {
  check(first >= 0 && count >= 0 && first + count <= positions_, "positions: positions ", first, " to ",
        first + count - 1, " of a table of ", positions_, "; build it with more positions");
  return table_.narrow(0, first, count);
}

}  // namespace heed
