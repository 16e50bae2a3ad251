// The shifts of TER: greedy search under tercom's rules for allowed shifts and for ties.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "heed/metrics/beam_distance.h"
#include "heed/metrics/ter.h"

namespace heed {
namespace {

using Words = BeamDistance::Words;

constexpr size_t kLongestShift = 10, kFurthestShift = 50;
constexpr int64_t kMaxCandidates = 1000;  // over all shifts of a sentence

/// Moves `length` hypothesis words from `start` to before the word at `to` (position before the shift).
struct Shift {
  size_t start, length, to;
};

/// The shift as an exchange of two adjacent phrases: [first, middle) and [middle, last).
struct Exchange {
  size_t first, middle, last;
};

/// A target inside the phrase moves the phrase by that many words.
Exchange exchange(const Shift& shift, size_t words) {
  const size_t end = shift.start + shift.length;
  if (shift.to < shift.start) return {shift.to, shift.start, end};
  if (shift.to > end) return {shift.start, end, shift.to};
  return {shift.start, end, std::min(shift.to + shift.length, words)};
}

Words shifted(Words words, const Exchange& e) {
  const auto at = [&](size_t i) { return words.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(e.first), at(e.middle), at(e.last));
  return words;
}

struct Best {
  int64_t saved;
  Shift shift;
  /// Order: most edits saved, then the longest phrase, then the earliest start, then the earliest target.
  bool beats(const Best& other) const {
    const auto rank = [](const Best& b) {
      return std::tuple(-b.saved, -static_cast<int64_t>(b.shift.length), b.shift.start, b.shift.to);
    };
    return rank(*this) < rank(other);
  }
};

class Shifter {
 public:
  Shifter(Words hypothesis, Words reference)
      : reference_(reference), distance_(std::move(hypothesis), std::move(reference)) {}

  int64_t edits() {
    int64_t shifts = 0;
    while (true) {
      best_.reset();
      find_best();
      if (candidates_ >= kMaxCandidates || !best_ || best_->saved <= 0) return shifts + distance_.distance();
      const auto& words = distance_.hypothesis();
      distance_.move_to(shifted(words, exchange(best_->shift, words.size())));
      ++shifts;
    }
  }

 private:
  void find_best() {
    path_ = distance_.path();
    const size_t H = distance_.hypothesis().size(), R = reference_.size();
    for (size_t h = 0; h < H; ++h)
      for (size_t r = h > kFurthestShift ? h - kFurthestShift : 0; r < std::min(R, h + kFurthestShift + 1); ++r) {
        try_runs(h, r);
        if (candidates_ >= kMaxCandidates) return;
      }
  }

  /// Tries equal phrases at h in the hypothesis and r in the reference, shortest first. A phrase is a candidate if it
  /// has a wrong word on both sides and is not aligned to its target already.
  void try_runs(size_t h, size_t r) {
    const auto& words = distance_.hypothesis();
    const size_t max = std::min({kLongestShift, words.size() - h, reference_.size() - r});
    bool hypothesis_wrong = false, reference_wrong = false;
    for (size_t n = 0; n < max && words[h + n] == reference_[r + n]; ++n) {
      hypothesis_wrong = hypothesis_wrong || path_.hypothesis_wrong[h + n];
      reference_wrong = reference_wrong || path_.reference_wrong[r + n];
      const int64_t goal = path_.position[r];
      const bool there = goal >= static_cast<int64_t>(h) && goal <= static_cast<int64_t>(h + n);
      if (hypothesis_wrong && reference_wrong && !there) try_positions(h, r, n + 1);
      if (candidates_ >= kMaxCandidates) return;
    }
  }

  /// Targets: after the word aligned to the reference word before the phrase, and after each word aligned to one in it.
  void try_positions(size_t h, size_t r, size_t length) {
    std::optional<size_t> last;
    for (size_t n = 0; n <= length; ++n) {
      const size_t to = r + n == 0 ? 0 : static_cast<size_t>(path_.position[r + n - 1] + 1);
      if (to == last) continue;
      last = to;
      consider({h, length, to});
    }
  }

  void consider(const Shift& shift) {
    const auto& words = distance_.hypothesis();
    const Exchange e = exchange(shift, words.size());
    const Best found{distance_.distance() - distance_.distance_of(shifted(words, e), e.first, e.last), shift};
    ++candidates_;
    if (!best_ || found.beats(*best_)) best_ = found;
  }

  Words reference_;
  BeamDistance distance_;
  EditPath path_;
  std::optional<Best> best_;
  int64_t candidates_ = 0;
};

Words numbered(const std::vector<std::string>& words, std::map<std::string, int>& numbers) {
  Words all;
  for (const auto& word : words)
    all.push_back(numbers.try_emplace(word, static_cast<int>(numbers.size())).first->second);
  return all;
}

}  // namespace

int64_t edits_with_shifts(const std::vector<std::string>& hypothesis, const std::vector<std::string>& reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  std::map<std::string, int> numbers;
  return Shifter(numbered(hypothesis, numbers), numbered(reference, numbers)).edits();
}

}  // namespace heed
