// bench_fused [--full] [--only <row>,...] [--json <file>]: the fused kernels on the CPU against the limits of the core
// and against the same formulas in plain libtorch. Everything runs on one thread, pinned to one processor, except for
// the row "threads". --full takes minutes and adds the grid; without it there are fewer rounds. The report is written
// as JSON to the given file, by default to the build folder.
//
// A bar is the target of a figure, on a core with AVX-512 unless the row says otherwise. A missed bar is reported but
// is no error: the program fails only if something could not be run.

#include <iostream>
#include <malloc.h>

#include "bench/fused_grid.h"
#include "bench/fused_rows.h"
#include "bench/report.h"
#include "bench/resident.h"
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace heed::bench {
namespace {

// ---- memory --------------------------------------------------------------------------------------------------------

/// Runs in a child process: prints the plan and the MiB that a call needs in addition to context and gradients.
void measure_memory(int64_t length, const std::string& setting) {
  constexpr int64_t D = 128;
  if (setting == "threshold") mallopt(M_MMAP_THRESHOLD, kMallocThreshold);
  const auto mechanism = Mechanism::parse("additive + softmax");
  auto parameters = initialized(mechanism.parameters({D, D, D, D}));
  std::string plan;
  const auto call_on = [&](int64_t L) {
    std::vector<Tensor> leaves;
    for (int i = 0; i < 3; ++i) leaves.push_back(at::randn({1, L, D}).requires_grad_());
    for (const auto& tensor : parameters.values()) leaves.push_back(tensor.requires_grad_());
    return [&plan, &mechanism, &parameters, leaves, upstream = at::randn({1, L, D})] {
      const auto attended = attend(leaves[0], leaves[1], leaves[2], mechanism, parameters);
      plan = attended.plan.to_string();
      auto results = torch::autograd::grad({attended.context}, leaves, {upstream});
      results.push_back(attended.context);
      return results;
    };
  };
  call_on(64)();  // torch initializes itself in the first call
  const double mib = memory_of(call_on(length));
  std::cout << mib << '\n' << plan << '\n';
}

void memory(Bench& bench) {
  constexpr double kBar = 96;  // MiB
  std::printf(
      "\nMemory of attend(), additive + softmax, forward + backward, Lq = Lk = L, Dh = D = 128, float, one thread,"
      " in addition to inputs, context and gradients\n  %6s  %-38s %9s %9s\n",
      "L", "malloc", "MiB", "bar");
  for (const std::string setting : {"default", "threshold"}) {
    if (setting == "threshold" && !bench.full) break;
    const int64_t length = 16384;
    std::istringstream output(output_of("--memory " + std::to_string(length) + " " + setting));
    MemoryRow row{"additive + softmax, forward + backward", setting, "", length, kAbsent, kBar};
    output >> row.mib >> std::ws;
    std::getline(output, row.plan, '\0');
    std::printf("  %6d  %-38s %9.1f %9.0f  %s\n", static_cast<int>(length),
                setting == "default" ? "as it comes" : "M_MMAP_THRESHOLD 64 KiB", row.mib, kBar,
                row.mib <= kBar ? "pass" : "miss");
    if (bench.memory.empty()) std::printf("  plan: %s", row.plan.c_str());
    bench.memory.push_back(row);
  }
}

// ---- all rows ------------------------------------------------------------------------------------------------------

struct Part {
  std::string name;
  void (*run)(Bench&);
  bool only_full = false;
};

const std::vector<Part> kParts{{"dot", dot},         {"dot_avx2", dot_avx2}, {"additive", additive}, {"step", step},
                               {"multi", multi},     {"align", align},       {"weights", weights},   {"decode", decode},
                               {"threads", threads}, {"memory", memory},     {"grid", grid, true}};

std::vector<std::string> split(const std::string& arguments) {
  std::vector<std::string> all;
  std::istringstream text(arguments);
  for (std::string word; std::getline(text, word, ',');) all.push_back(word);
  return all;
}

/// <build folder>/bench_fused.json, of the program <build folder>/bin/bench_fused.
std::string default_json() {
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  return folder.substr(0, folder.rfind('/')) + "/bench_fused.json";
}

void print_bars(const Bench& bench) {
  std::printf("\nBars%s\n", bench.full ? "" : "; fewer rounds than --full");
  for (const auto& race : bench.races)
    for (const auto& f : race.figures)
      if (f.has_bar())
        std::printf("  %-9s %-58s %9.4g %-18s %-8s %6.4g  %s\n", race.name.c_str(), f.name.c_str(), f.value,
                    f.unit.c_str(), f.at_least ? "at least" : "at most", f.bar, f.verdict(race.running_on).c_str());
  for (const auto& row : bench.memory)
    std::printf("  %-9s %-58s %9.4g %-18s %-8s %6.4g  %s\n", "memory", (row.what + ", malloc: " + row.malloc).c_str(),
                row.mib, "MiB", "at most", row.bar, row.mib <= row.bar ? "pass" : "miss");
}

int main_of(const std::vector<std::string>& arguments) {
  torch::manual_seed(1);
  if (arguments.size() == 3 && arguments[0] == "--memory") {
    use_threads(1);
    measure_memory(std::stoll(arguments[1]), arguments[2]);
    return 0;
  }
  Bench bench;
  std::string json = default_json();
  std::vector<std::string> only, names;
  for (const auto& part : kParts) names.push_back(part.name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      bench.full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else if (arguments[i] == "--only" && i + 1 < arguments.size())
      only = split(arguments[++i]);
    else
      fail("bench: got '", arguments[i], "', expected --full, --only <row>,... or --json <file>");
  }
  for (const auto& name : only)
    check(std::find(names.begin(), names.end(), name) != names.end(), "bench: got row '", name, "', expected one of ",
          joined(names));

  const auto cores = one_of_each_core();
  check(!cores.empty() && pin(cores[0]), "bench: cannot pin the thread to a processor");
  use_threads(1);
  bench.machine = Machine::measure(cores);
  bench.machine.print();
  std::vector<std::string> failed;
  double took = 0;
  for (const auto& part : kParts) {
    const bool named = std::find(only.begin(), only.end(), part.name) != only.end();
    if (only.empty() ? part.only_full && !bench.full : !named) continue;
    try {
      took += seconds([&] { part.run(bench); });
    } catch (const std::exception& error) {
      const std::string reason = error.what();
      failed.push_back(part.name + ": " + reason.substr(0, reason.find('\n')));  // without torch's stack trace
      std::cout << std::flush;
      std::cerr << "bench_fused: " << failed.back() << '\n';
    }
  }
  if (!bench.races.empty() || !bench.memory.empty()) print_bars(bench);
  write_json(json, bench.machine, bench.races, bench.memory, failed);
  std::printf("\nTook %.0f s; the report is in %s\n", took, json.c_str());
  return failed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_fused: " << error.what() << '\n';
    return 1;
  }
}
