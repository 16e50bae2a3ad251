#include "heed/kernels/reference/parameters.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/nearest.h"

namespace heed::kernels::reference {
namespace {

/// Whether the shapes agree. Sets the hidden width from `given` if it is not known yet.
bool agrees(const std::vector<int64_t>& declared, std::span<const int64_t> given, int64_t& hidden) {
  if (declared.size() != given.size()) return false;
  for (size_t axis = 0; axis < given.size(); ++axis) {
    if (declared[axis] == kHidden && hidden == kHidden) hidden = given[axis];
    if (given[axis] != (declared[axis] == kHidden ? hidden : declared[axis])) return false;
  }
  return true;
}

std::string shown_with_names(const std::vector<int64_t>& shape, int64_t hidden) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape)
    sizes.push_back(size != kHidden ? std::to_string(size) : hidden == kHidden ? "Dh" : std::to_string(hidden));
  return "[" + joined(sizes) + "]";
}

template <typename Real>
void refuse_unknown(const std::string& part, const std::vector<Declared>& declared,
                    const std::map<std::string, Array<Real>>& given) {
  std::vector<std::string> known;
  for (const auto& one : declared) known.push_back(part + "." + one.name);
  for (const auto& [name, array] : given) {
    if (!name.starts_with(part + ".")) continue;
    const bool expected = std::find(known.begin(), known.end(), name) != known.end();
    check(expected, "kernels/reference: got parameter ", name, ", expected ",
          known.empty() ? "none of " + part + ".*" : joined(known), suggestion(name, known));
  }
}

}  // namespace

std::string shown(const std::vector<int64_t>& shape) {
  return shown_with_names(shape, kHidden);
}

template <typename Real>
HeadParameters<Real>::HeadParameters(const std::string& part, const std::vector<Declared>& declared,
                                     const std::map<std::string, Array<Real>>& given, int64_t heads, int64_t head) {
  refuse_unknown(part, declared, given);
  int64_t hidden = kHidden;
  for (const auto& [name, shape] : declared) {
    const auto found = given.find(part + "." + name);
    check(found != given.end(), "kernels/reference: parameter ", part, ".", name, " is missing, expected ",
          shown_with_names(shape, hidden));
    const Array<Real>& array = found->second;
    const std::span<const int64_t> axes(array.shape);
    const bool per_head = axes.size() == shape.size() + 1 && axes.front() == heads;
    check(agrees(shape, per_head ? axes.subspan(1) : axes, hidden), "kernels/reference: parameter ", part, ".", name,
          " is ", shown(array.shape), ", expected ", shown_with_names(shape, hidden),
          ", or that with a leading axis of ", heads, ", one set for each head");
    const std::span<const Real> all(array.data);
    const size_t size = per_head && heads > 0 ? all.size() / static_cast<size_t>(heads) : all.size();
    by_name_[name] = all.subspan(per_head ? size * static_cast<size_t>(head) : 0, size);
  }
}

template class HeadParameters<double>;
template class HeadParameters<std::complex<double>>;

}  // namespace heed::kernels::reference
