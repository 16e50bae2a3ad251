// A race: interleaved timing of baselines. Every round runs each of them, so that a slow second affects all.
//
// A time is reported as the minimum over all rounds, which other programs disturb least, and as the median. A figure is
// computed from times, factor * over / under, from the minimum of each. Its median is that of the same figure per
// round; its noise is the difference between the figures of the even and of the odd rounds. A bar is a target for a
// figure; it is undecided if it is nearer to the figure than the noise.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/check.h"

namespace heed::bench {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

inline double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.empty() ? kAbsent : x[x.size() / 2];
}

/// Error relative to the result r in double: |x - r| / |r|, and the largest difference divided by the largest |r|.
struct Error {
  double norm = kAbsent, max = kAbsent;
};

struct Baseline {
  std::string name;
  std::function<void()> run;
  std::function<Error()> error{};  // called after a run; empty: not measured
  std::vector<double> times{};     // of each round, in seconds; kAbsent if it did not run in it
  Error found{};

  /// Minimum over the rounds in which it ran; parity 0 or 1: over the even or the odd ones.
  double min(int parity = -1) const {
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < times.size(); ++i)
      if ((parity < 0 || static_cast<int>(i % 2) == parity) && times[i] < best) best = times[i];
    return std::isinf(best) ? kAbsent : best;
  }
  std::vector<double> ran() const {
    std::vector<double> some;
    for (const double t : times)
      if (!std::isnan(t)) some.push_back(t);
    return some;
  }
};

struct Figure {
  std::string name;
  double factor = 1;
  std::vector<std::string> over{}, under{};  // names of baselines: times in the numerator and in the denominator
  std::string unit{};
  double bar = kAbsent;
  bool at_least = true;  // else at most
  std::string needs{};   // the instruction set that the bar applies to; empty: any
  std::string note{};
  double value = kAbsent, middle = kAbsent, noise = kAbsent;  // the results

  bool has_bar() const { return !std::isnan(bar); }
  bool passed() const { return at_least ? value >= bar : value <= bar; }
  /// "pass" or "miss", with remarks; empty without a bar.
  std::string verdict(const std::string& running_on) const {
    if (!has_bar()) return "";
    std::string text = passed() ? "pass" : "miss";
    if (std::abs(value / bar - 1) < noise) text += ", within the noise";
    if (!needs.empty() && needs != running_on) text += "; the bar needs " + needs + ", this is " + running_on;
    return text;
  }
};

/// How long to measure.
struct Pace {
  int rounds = 15;    // minimum
  double enough = 1;  // seconds: fast baselines run more rounds, up to max_rounds
  int max_rounds = 400;
  double slow = 0.3;  // a baseline that takes more seconds than this runs slow_rounds times
  int slow_rounds = 15;
};

class Race {
 public:
  std::string name, title;
  std::vector<Baseline> baselines;
  std::vector<Figure> figures;
  std::string note, running_on;  // the instruction set

  Race(std::string short_name, std::string long_name) : name(std::move(short_name)), title(std::move(long_name)) {}

  void add(std::string who, std::function<void()> run, std::function<Error()> error = {}) {
    baselines.push_back({std::move(who), std::move(run), std::move(error)});
  }
  const Baseline& at(const std::string& who) const {
    for (const auto& c : baselines)
      if (c.name == who) return c;
    fail("bench: the race ", name, " has no baseline ", who);
  }

  /// Runs every baseline untimed, measures its error, then runs the timed rounds.
  void run(const Pace& pace) {
    std::vector<int> every;
    double round_time = 0;
    for (auto& c : baselines) {
      double first = seconds(c.run);
      if (first < pace.slow) first = seconds(c.run);  // the first run fills caches and allocates memory
      round_time += std::min(first, pace.slow);
      every.push_back(first > pace.slow ? pace.rounds / pace.slow_rounds | 1
                                        : 1);  // odd, so that it runs in even and in odd rounds
      if (c.error) c.found = c.error();
    }
    const int rounds = std::clamp(static_cast<int>(pace.enough / round_time), pace.rounds, pace.max_rounds);
    for (int round = 0; round < rounds; ++round)
      for (size_t i = 0; i < baselines.size(); ++i)
        baselines[i].times.push_back(round % every[i] == 0 ? seconds(baselines[i].run) : kAbsent);
  }

  void add(Figure figure) {
    const auto of = [&](const std::function<double(const Baseline&)>& time) {
      double value = figure.factor;
      for (const auto& who : figure.over) value *= time(at(who));
      for (const auto& who : figure.under) value /= time(at(who));
      return value;
    };
    figure.value = of([](const Baseline& c) { return c.min(); });
    std::vector<double> rounds;
    for (size_t i = 0; i < baselines[0].times.size(); ++i) {
      const double value = of([&](const Baseline& c) { return c.times[i]; });
      if (!std::isnan(value)) rounds.push_back(value);
    }
    figure.middle = median(rounds);
    const double even = of([](const Baseline& c) { return c.min(0); });
    const double odd = of([](const Baseline& c) { return c.min(1); });
    figure.noise = std::abs(even - odd) / figure.value;
    figures.push_back(std::move(figure));
  }

  void print() const {
    std::printf("\n%s\n", title.c_str());
    std::printf("  %-40s %10s %10s %8s %6s  %8s %8s\n", "baseline", "least ms", "median ms", "spread", "rounds",
                "error", "most");
    for (const auto& c : baselines) {
      const auto ran = c.ran();
      std::printf("  %-40s %10.3f %10.3f %7.1f%% %6d", c.name.c_str(), 1e3 * c.min(), 1e3 * median(ran),
                  100 * (median(ran) / c.min() - 1), static_cast<int>(ran.size()));
      if (!std::isnan(c.found.norm)) std::printf("  %8.1e %8.1e", c.found.norm, c.found.max);
      std::printf("\n");
    }
    for (const auto& f : figures) {
      std::printf("  = %-62s %10.4g %-18s (median %.4g, noise %.1f%%)", f.name.c_str(), f.value, f.unit.c_str(),
                  f.middle, 100 * f.noise);
      if (f.has_bar())
        std::printf("  bar: %s %.4g  %s", f.at_least ? "at least" : "at most", f.bar, f.verdict(running_on).c_str());
      if (!f.note.empty()) std::printf("  %s", f.note.c_str());
      std::printf("\n");
    }
    if (!note.empty()) std::printf("  %s\n", note.c_str());
    std::fflush(stdout);
  }
};

}  // namespace heed::bench
