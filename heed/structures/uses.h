// Several attention calls inside one call of a structure or model. They share masks and requested outputs but draw
// different random numbers; their results are the steps.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/call.h"

namespace heed {

/// The call for the n-th use, with a seed derived from n: with the same seed, two uses would draw the same numbers.
/// Seed 0 stays 0: each use then draws a seed of its own. The product keeps seeds that are derived twice apart from
/// those derived once.
inline Call nth_use(const Call& call, uint64_t n) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // far from the differences between seeds that users choose
  Call own = call;
  if (own.noise.seed != 0) own.noise.seed = (own.noise.seed + n) * kOdd;
  if (call.noise.seed != 0 && own.noise.seed == 0) own.noise.seed = kOdd;  // seed 0 would draw a fresh seed
  return own;
}

/// The call for a batch in which each element has been split into `each` consecutive elements.
inline Call with_rows_split(const Call& call, int64_t each) {
  Call own = call;
  own.noise.first_row *= each;
  own.noise.rows_each *= each;
  return own;
}

/// The result of each attention call with its name, in order.
using Steps = std::vector<std::pair<std::string, Attended>>;

/// The step of that name. Throws Error if there is none; `who` is the prefix of the message.
inline const Attended& step_of(const Steps& steps, const std::string& name, const std::string& who) {
  std::vector<std::string> known;
  for (const auto& [step, attended] : steps) {
    if (step == name) return attended;
    known.push_back(step);
  }
  fail(who, ": no step called '", name, "'; there are: ", joined(known));
}

}  // namespace heed
