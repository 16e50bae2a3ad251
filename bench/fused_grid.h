// The grid: our kernels against the formula in plain libtorch on all sizes, including those where ours are slower.

#pragma once

#include <array>
#include <memory>

#include "bench/fused_rows.h"

namespace heed::bench {

/// Prints the geometric mean of a figure over races, the best and the worst.
inline void print_summary(const std::vector<Race>& races, size_t which) {
  double logs = 0;
  const Race *best = &races[0], *worst = &races[0];
  for (const auto& race : races) {
    logs += std::log(race.figures[which].value);
    if (race.figures[which].value > best->figures[which].value) best = &race;
    if (race.figures[which].value < worst->figures[which].value) worst = &race;
  }
  std::printf("  %s: geometric mean %.2f over %d cases, best %.2f (%s), worst %.2f (%s)\n",
              races[0].figures[which].name.c_str(), std::exp(logs / static_cast<double>(races.size())),
              static_cast<int>(races.size()), best->figures[which].value, best->title.c_str(),
              worst->figures[which].value, worst->title.c_str());
}

/// Times forward and forward + backward of one case and prints a line.
inline Race grid_race(const std::string& name, const std::string& title, const Inputs& in, const Setting& setting,
                      const Formula& formula) {
  Race race(name, title);
  Case c(in, setting);
  const auto x = in.flat();
  const auto upstream = in.upstream.flatten(0, 1);
  const int64_t N = x[0].size(1);
  race.add("forward", c.forward(), c.context_error());
  race.add("libtorch forward", [&] { run_plain(formula, x, N); });
  race.add("forward + backward", c.both());
  race.add("libtorch forward + backward", [&] { plain_gradients(formula, x, upstream, N); });
  race.run({.rounds = 5, .enough = 0.1, .slow_rounds = 2});
  race.add(times("forward", "libtorch forward"));
  race.add(times("forward + backward", "libtorch forward + backward"));
  std::printf("  %-44s", title.c_str());
  for (const auto& baseline : race.baselines) std::printf(" %11.3f", 1e3 * baseline.min());
  std::printf(" %8.2f %8.2f  %8.1e\n", race.figures[0].value, race.figures[1].value, race.baselines[0].found.norm);
  std::fflush(stdout);
  return race;
}

inline void print_grid_head(const std::string& title) {
  std::printf("\n%s: least ms\n  %-44s %11s %11s %11s %11s %8s %8s  %8s\n", title.c_str(), "", "forward", "libtorch",
              "both", "libtorch", "times", "times", "error");
}

inline void grid(Bench& bench) {
  std::vector<Race> dots, sums;
  print_grid_head("grid: dot + softmax");
  for (const bool causal : {false, true})
    for (const int64_t D : {64, 128})
      for (const int64_t H : {1, 8})
        for (const int64_t N : {128, 256, 512, 1024, 2048, 4096}) {
          std::ostringstream title;
          title << "d " << D << ", " << H << (H == 1 ? " head, N " : " heads, N ") << N << (causal ? ", causal" : "");
          dots.push_back(grid_race("grid_dot", title.str(), Inputs::normal({1, H, N, N, D, D}).bare(),
                                   {.causal = causal}, plain_dot(causal)));
        }
  for (const size_t which : {0, 1}) print_summary(dots, which);
  print_grid_head("grid: additive + softmax");
  for (const int64_t N : {64, 128, 256, 512, 1024}) {
    std::ostringstream title;
    title << "Dh = Dv = 128, N " << N;
    sums.push_back(
        grid_race("grid_additive", title.str(), Inputs::normal({1, 1, N, N, 128, 128}), kAdditive, plain_additive));
  }
  for (const size_t which : {0, 1}) print_summary(sums, which);
  for (auto* races : {&dots, &sums})
    for (auto& race : *races) bench.finish(std::move(race), /*print=*/false);
}

}  // namespace heed::bench
