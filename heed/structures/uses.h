// Several uses of mechanisms in one call: masks and wants are the same, what is drawn is not; and what resulted from
// each.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/attention/call.h"

namespace heed {

/// The call for use n. With the same seed, two uses would draw the same numbers; without one, each draws its own.
/// Multiplied, not only added to: a use of a use is then no use of the call itself.
inline Call nth_use(const Call& call, uint64_t n) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // far from any difference of seeds that people choose
  Call own = call;
  if (own.noise.seed != 0) own.noise.seed = (own.noise.seed + n) * kOdd;
  if (call.noise.seed != 0 && own.noise.seed == 0) own.noise.seed = kOdd;  // 0 would draw one of its own
  return own;
}

/// The call where each batch row has become `each` rows, one after the other.
inline Call with_rows_split(const Call& call, int64_t each) {
  Call own = call;
  own.noise.first_row *= each;
  own.noise.rows_each *= each;
  return own;
}

/// What resulted from each use, by name, in order.
using Steps = std::vector<std::pair<std::string, Attended>>;

/// The step of that name; who: how errors call its owner.
inline const Attended& step_of(const Steps& steps, const std::string& name, const std::string& who) {
  std::vector<std::string> known;
  for (const auto& [step, attended] : steps) {
    if (step == name) return attended;
    known.push_back(step);
  }
  fail(who, ": no step called '", name, "'; there are: ", joined(known));
}

}  // namespace heed
