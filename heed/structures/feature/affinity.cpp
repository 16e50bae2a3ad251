#include "heed/structures/feature/affinity.h"

namespace heed {

int64_t same_width(const std::string& structure, int64_t first, int64_t second) {
  check(first == second, "structure/", structure, ": the inputs are ", first, " and ", second,
        " wide, expected the same width: their features are multiplied");
  return first;
}

Call inner_call(const Call& call) {
  return {.path = call.path, .block_bytes = call.block_bytes};
}

Sides trilinear_sides(const Tensor& weight, const Features& first, const Features& second) {
  const auto parts = weight.chunk(3);
  const auto &x = first.rows, &y = second.rows;
  const auto own = [](const Tensor& rows, const Tensor& w) { return (rows * w).sum(-1, /*keepdim=*/true); };
  const auto one = [](const Tensor& rows) { return at::ones({rows.size(0), rows.size(1), 1}, rows.options()); };
  return {first.with_rows(beside({x * parts[2], own(x, parts[0]), one(x)})),  // [B, n1, D + 2]
          second.with_rows(beside({y, one(y), own(y, parts[1])}))};           // [B, n2, D + 2]
}

Features best_matches(const Features& of, const Features& among, const Call& call) {
  static const Mechanism best = Mechanism::parse("dot + hard");  // takes the argmax, since nothing is sampled
  const auto match = attend(of.rows, among.rows, among.rows, best, {}, over(inner_call(call), among)).context;
  Features scores = of.with_rows((of.rows * match).sum(-1, /*keepdim=*/true));  // [B, n, 1]
  if (among.keep.defined() || among.length() == 0) {
    const auto any = any_real(among).unsqueeze(-1).expand({of.batch(), of.length()});
    scores.keep = of.keep.defined() ? of.keep.logical_and(any) : any;
  }
  return scores;
}

Tensor unit_query(const Features& features) {
  return at::ones({features.batch(), 1, 1}, features.rows.options());
}

}  // namespace heed
