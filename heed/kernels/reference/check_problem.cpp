#include "heed/kernels/reference/check_problem.h"

#include "heed/base/check.h"
#include "heed/kernels/reference/parameters.h"

namespace heed::kernels::reference {
namespace {

using Shape = std::vector<int64_t>;

template <typename Real>
void check_whole(const std::string& name, const Array<Real>& array, size_t axes) {
  check(array.shape.size() == axes, "kernels/reference: ", name, " is ", shown(array.shape), ", expected ", axes,
        " axes");
  int64_t size = 1;
  for (const int64_t n : array.shape) size *= n;
  check(static_cast<int64_t>(array.data.size()) == size, "kernels/reference: ", name, " holds ", array.data.size(),
        " numbers, expected ", size, " for ", shown(array.shape));
}

/// The array is empty or has the full shape, in which each of the first `broadcast` axes may have size 1.
template <typename Real>
void check_optional(const std::string& name, const Array<Real>& array, const Shape& full, size_t broadcast) {
  if (array.empty()) return;
  check_whole(name, array, full.size());
  for (size_t axis = 0; axis < full.size(); ++axis) {
    const bool fits = array.shape[axis] == full[axis] || (axis < broadcast && array.shape[axis] == 1);
    check(fits, "kernels/reference: ", name, " is ", shown(array.shape), ", expected ", shown(full),
          broadcast > 0 ? "; only axes of size 1 broadcast" : "");
  }
}

template <typename Real>
void check_inputs(const Problem<Real>& p) {
  check_whole("query", p.query, 4);
  check_whole("keys", p.keys, 4);
  check_whole("values", p.values, 4);
  const auto &q = p.query.shape, &k = p.keys.shape, &v = p.values.shape;
  const bool together = q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2];
  check(together, "kernels/reference: got query ", shown(q), ", keys ", shown(k), " and values ", shown(v),
        ", expected [B, H, Lq, Dq], [B, Hk, Lk, Dk] and [B, Hk, Lk, Dv]");
  check(q[1] == k[1] || (k[1] > 0 && q[1] % k[1] == 0), "kernels/reference: got ", q[1], " heads of queries over ",
        k[1], " heads of keys, expected a multiple");
  check(q[3] > 0 && k[3] > 0 && v[3] > 0, "kernels/reference: got query ", shown(q), ", keys ", shown(k),
        " and values ", shown(v), ", expected at least one feature in each");
}

template <typename Real>
void check_relative(const Array<Real>& relative, int64_t heads) {
  if (relative.empty()) return;
  check_whole("relative", relative, 2);
  const bool fits = (relative.shape[0] == 1 || relative.shape[0] == heads) && relative.shape[1] % 2 == 1;
  check(fits, "kernels/reference: relative is ", shown(relative.shape), ", expected [", heads, " or 1, 2 R + 1]");
}

}  // namespace

template <typename Real>
void check_problem(const Problem<Real>& p, int64_t score_width) {
  check_inputs(p);
  const int64_t B = p.query.shape[0], H = p.query.shape[1], Lq = p.query.shape[2], Lk = p.keys.shape[2];
  check_optional("keep", p.keep, {B, H, Lq, Lk}, 4);
  check_optional("bias", p.bias, {B, H, Lq, Lk}, 4);
  check_optional("per_key", p.per_key, {B, H, Lk}, 2);
  check_optional("alibi", p.alibi, {H}, 0);
  check_optional("uniforms", p.uniforms, {B, H, Lq, Lk, score_width}, 0);
  check_optional("key_count", p.key_count, {B}, 0);
  check_relative(p.relative, H);
  for (const int64_t count : p.key_count.data) {
    check(count >= 0 && count <= Lk, "kernels/reference: a key_count is ", count, ", expected 0 to ", Lk);
  }
  for (const auto& [name, array] : p.parameters) {
    check(name.starts_with("score.") || name.starts_with("align."), "kernels/reference: got parameter ", name,
          ", expected score.* or align.*");
    check_whole("parameter " + name, array, array.shape.size());
  }
  check(p.soft_cap >= 0, "kernels/reference: soft_cap is ", p.soft_cap, ", expected 0 (none) or more");
  check(p.dropout >= 0 && p.dropout < 1, "kernels/reference: dropout is ", p.dropout, ", expected a rate in [0, 1)");
  check(p.stream < (uint64_t{1} << 30), "kernels/reference: stream is ", p.stream, ", expected less than 2^30");
}

template void check_problem(const Problem<double>&, int64_t);
template void check_problem(const Problem<std::complex<double>>&, int64_t);

}  // namespace heed::kernels::reference
