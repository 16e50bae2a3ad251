// The parameters of one part as one head sees them.
//
// A part declares names and shapes. What is given has that shape, or that shape with a leading axis H, one set for each
// head. The hidden width Dh is declared as kHidden and read from what is given: the same wherever it stands.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

inline constexpr int64_t kHidden = -1;

/// How many scores a pair gets, and how: one; or one for each channel of the values, by a hidden layer, by the
/// hidden layer alone, or by the score once for each channel.
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
  /// part: "score" or "align"; takes the parameters called part.*, and refuses missing, unknown and misshapen ones.
  HeadParameters(const std::string& part, const std::vector<Declared>& declared,
                 const std::map<std::string, Array<Real>>& given, int64_t heads, int64_t head);

  /// All numbers of one parameter, row-major.
  std::span<const Real> operator[](const std::string& name) const { return by_name_.at(name); }

 private:
  std::map<std::string, std::span<const Real>> by_name_;
};

}  // namespace heed::kernels::reference
