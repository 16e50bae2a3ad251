// The header of a report (the machine) and the report as JSON.

#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/race.h"
#include "bench/rulers.h"
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include "heed/base/machine.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/torch_support/threads.h"
#include "heed/version.h"

namespace heed::bench {

/// The machine and its measured limits, on the processor that this thread is pinned to.
struct Machine {
  std::vector<int> cores;  // one processor of each core; the thread runs on the first
  std::vector<std::string> sets = kernels::cpu::instruction_sets();
  std::string set = kernels::cpu::instruction_set();
  std::string isa = std::getenv("HEED_ISA") ? std::getenv("HEED_ISA") : "";
  Blas blas = blas_in_use();
  double load = 0;                                    // average of the last minute
  double clock = 0;                                   // Hz
  std::vector<std::pair<std::string, double>> peaks;  // FLOP/s of each instruction set
  double product = 0;                                 // FLOP/s of at::matmul of 1024 x 1024 matrices
  double read = 0;                                    // bytes/s of reading 256 MiB
  double huge = 0;                                    // how many of these MiB are on huge pages

  static Machine measure(std::vector<int> cores) {
    Machine m;
    m.cores = std::move(cores);
    if (getloadavg(&m.load, 1) != 1) m.load = kAbsent;
    m.clock = clock_rate();
    for (const auto& name : m.sets) m.peaks.emplace_back(name, Fma(name).peak());
    const auto a = at::randn({1024, 1024}), b = at::randn({1024, 1024});
    double best = 1e30;
    for (int i = 0; i < 7; ++i) best = std::min(best, seconds([&] { at::matmul(a, b); }));
    m.product = 2 * std::pow(1024, 3) / best;
    const double before = on_huge_pages();
    HugeBuffer numbers(size_t{64} << 20);
    m.huge = on_huge_pages() - before;
    best = 1e30;
    for (int i = 0; i < 7; ++i) best = std::min(best, seconds([&] { read_all(numbers.data(), numbers.size()); }));
    m.read = static_cast<double>(numbers.size() * sizeof(float)) / best;
    return m;
  }

  std::string on_cores() const {
    std::string text;
    for (const int cpu : cores) text += (text.empty() ? "" : " ") + std::to_string(cpu);
    return text;
  }

  void print() const {
    std::printf("heed %s (%s), libtorch %s, %s\n", std::string(kVersion).c_str(), std::string(commit()).c_str(),
                TORCH_VERSION, compiler().c_str());
    std::printf("%s; %d cores to use (processors %s), pinned to processor %d; torch on %d thread\n",
                cpu_model().c_str(), static_cast<int>(cores.size()), on_cores().c_str(), cores.empty() ? -1 : cores[0],
                at::get_num_threads());
    std::printf("kernels on %s (HEED_ISA %s; there are: %s); BLAS: %s (threads: %s)\n", set.c_str(),
                isa.empty() ? "not set" : isa.c_str(), joined(sets, " ").c_str(), blas.name.c_str(),
                blas.threads.c_str());
    std::printf("measured: clock %.2f GHz", clock / 1e9);
    for (const auto& [name, peak] : peaks)
      std::printf(", multiply-adds %s %.1f GFLOP/s (%.1f per cycle)", name.c_str(), peak / 1e9, peak / clock);
    std::printf(", product of torch %.1f GFLOP/s, read %.1f GB/s (256 MiB, %.0f of them on huge pages)\n",
                product / 1e9, read / 1e9, huge);
    std::printf("load before the start: %.1f%s\n", load, load > 0.5 ? "; other programs run: look at the spread" : "");
    if (!blas.warning().empty()) std::printf("warning: %s\n", blas.warning().c_str());
    std::fflush(stdout);
  }
};

struct MemoryRow {
  std::string what, malloc, plan;
  int64_t length;
  double mib, bar;
};

// ---- JSON ----------------------------------------------------------------------------------------------------------

inline std::string quoted(const std::string& text) {
  std::string safe;
  for (const char letter : text)
    safe += letter == '"' || letter == '\\' ? std::string{'\\', letter} : letter == '\n' ? " " : std::string{letter};
  return "\"" + safe + "\"";
}

inline std::string number(double x) {
  if (!std::isfinite(x)) return "null";
  std::ostringstream text;
  text.precision(8);
  text << x;
  return text.str();
}

/// {"key": value, ...}; each value is already JSON.
inline std::string object(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string text;
  for (const auto& [key, value] : fields) text += (text.empty() ? "{" : ", ") + quoted(key) + ": " + value;
  return text + "}";
}

template <typename Items, typename Write>
std::string list(const Items& items, const std::string& indent, const Write& write) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "[\n" : ",\n") + indent + write(item);
  return text.empty() ? "[]" : text + "]";
}

inline std::string json_of(const Machine& m) {
  std::vector<std::pair<std::string, std::string>> peaks;
  for (const auto& [name, peak] : m.peaks) peaks.emplace_back(name, number(peak / 1e9));
  return object({{"version", quoted(std::string(kVersion))},
                 {"commit", quoted(std::string(commit()))},
                 {"torch", quoted(TORCH_VERSION)},
                 {"compiler", quoted(compiler())},
                 {"cpu", quoted(cpu_model())},
                 {"processors", quoted(m.on_cores())},
                 {"torch_threads", std::to_string(at::get_num_threads())},
                 {"instruction_sets", quoted(joined(m.sets, " "))},
                 {"instruction_set", quoted(m.set)},
                 {"HEED_ISA", quoted(m.isa)},
                 {"blas", quoted(m.blas.name)},
                 {"blas_threads", quoted(m.blas.threads)},
                 {"load", number(m.load)},
                 {"clock_ghz", number(m.clock / 1e9)},
                 {"fma_gflops", object(peaks)},
                 {"matmul_gflops", number(m.product / 1e9)},
                 {"read_gbytes", number(m.read / 1e9)},
                 {"read_on_huge_pages_mib", number(m.huge)}});
}

inline std::string json_of(const Baseline& c) {
  const auto ran = c.ran();
  return object({{"name", quoted(c.name)},
                 {"least_ms", number(1e3 * c.min())},
                 {"median_ms", number(1e3 * median(ran))},
                 {"most_ms", number(ran.empty() ? kAbsent : 1e3 * *std::max_element(ran.begin(), ran.end()))},
                 {"rounds", std::to_string(ran.size())},
                 {"error", number(c.found.norm)},
                 {"largest_error", number(c.found.max)}});
}

inline std::string json_of(const Figure& f, const std::string& set) {
  return object({{"name", quoted(f.name)},
                 {"value", number(f.value)},
                 {"median", number(f.middle)},
                 {"noise", number(f.noise)},
                 {"unit", quoted(f.unit)},
                 {"bar", number(f.bar)},
                 {"bar_is", f.has_bar() ? quoted(f.at_least ? "at least" : "at most") : "null"},
                 {"verdict", quoted(f.verdict(set))},
                 {"note", quoted(f.note)}});
}

inline std::string json_of(const Race& race) {
  return object({{"name", quoted(race.name)},
                 {"title", quoted(race.title)},
                 {"note", quoted(race.note)},
                 {"baselines", list(race.baselines, "      ", [](const auto& c) { return json_of(c); })},
                 {"figures", list(race.figures, "      ", [&](const auto& f) { return json_of(f, race.running_on); })},
                 {"instruction_set", quoted(race.running_on)}});
}

inline std::string json_of(const MemoryRow& row) {
  return object({{"what", quoted(row.what)},
                 {"length", std::to_string(row.length)},
                 {"malloc", quoted(row.malloc)},
                 {"plan", quoted(row.plan)},
                 {"mib", number(row.mib)},
                 {"bar", number(row.bar)}});
}

inline void write_json(const std::string& path, const Machine& machine, const std::vector<Race>& races,
                       const std::vector<MemoryRow>& memory, const std::vector<std::string>& failed) {
  std::ofstream out(path);
  out << "{\n  \"machine\": " << json_of(machine)
      << ",\n  \"races\": " << list(races, "    ", [](const auto& race) { return json_of(race); })
      << ",\n  \"memory\": " << list(memory, "    ", [](const auto& row) { return json_of(row); })
      << ",\n  \"failed\": " << list(failed, "    ", [](const auto& text) { return quoted(text); }) << "\n}\n";
  out.close();
  check(out.good(), "bench: cannot write ", path);
}

}  // namespace heed::bench
