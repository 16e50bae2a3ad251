// The parameters of one part for one head.
//
// A part declares names and shapes. A given array has that shape, or that shape with a leading axis H, one set per
// head. The hidden width Dh is declared as kHidden; its value is taken from the given arrays, which must agree on it.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

inline constexpr int64_t kHidden = -1;

/// The scores of a pair: one; or one per channel of the values, by a hidden layer and a matrix, by the hidden layer
/// alone, or by applying the score per channel.
enum class Form { single, hidden, elementwise, lift };

struct Sizes {
  int64_t query = 0, keys = 0, values = 0;  // widths Dq, Dk, Dv
  int64_t queries = 0;                      // Lq
  Form form = Form::single;
  int64_t width() const { return form == Form::single ? 1 : values; }  // W
};

struct Declared {
  std::string name;
  std::vector<int64_t> shape;
};

/// "[2, 3, 6]"
std::string shown(const std::vector<int64_t>& shape);

template <typename Real>
class HeadParameters {
 public:
  /// part: "score" or "align". Selects the parameters named part.*; throws heed::Error for missing or unknown ones and
  /// for wrong shapes.
  HeadParameters(const std::string& part, const std::vector<Declared>& declared,
                 const std::map<std::string, Array<Real>>& given, int64_t heads, int64_t head);

  /// The data of one parameter, row-major.
  std::span<const Real> operator[](const std::string& name) const { return by_name_.at(name); }

 private:
  std::map<std::string, std::span<const Real>> by_name_;
};

}  // namespace heed::kernels::reference
