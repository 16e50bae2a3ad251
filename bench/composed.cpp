// bench_composed [--full] [--json <file>]: memory and time of the composed path. The bar applies to --full, which takes
// minutes; without it, lengths are halved.
//
// Memory: each row runs in a process of its own, since earlier peaks would distort it. The measure is the peak of
// resident memory during the call, minus what was resident just before it, minus the outputs and gradients themselves.
// It depends on malloc: glibc keeps freed blocks below a threshold that it adapts itself, so each row is measured with
// the default malloc and with the threshold fixed at 64 KiB (mallopt). The bar is 512 MiB.
//
// Time: forward and backward of the composed path, the stored path and the same formula in plain libtorch, interleaved
// so that a slow minute affects all of them; and the error relative to plain libtorch in double.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <malloc.h>
#include <sstream>
#include <unistd.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>
#include <torch/version.h>

#include "heed/base/machine.h"
#include "heed/heed.h"
#include "heed/torch_support/threads.h"

namespace heed {
namespace {

constexpr int64_t kWidth = 128;    // Dq = Dk = Dv = Dh
constexpr double kBar = 512;       // MiB
constexpr int kThreshold = 65536;  // bytes, for mallopt
constexpr double kMiB = 1024 * 1024;

// ---- one call ------------------------------------------------------------------------------------------------------

struct Inputs {
  Tensor query, keys, values;  // [B, L, D]
  Parameters parameters;
  std::vector<Tensor> all() const {
    auto tensors = parameters.values();
    tensors.insert(tensors.begin(), {query, keys, values});
    return tensors;
  }
  Inputs to(at::ScalarType type) const {
    const auto leaf = [&](const Tensor& x) { return x.detach().to(type).requires_grad_(); };
    Inputs other{leaf(query), leaf(keys), leaf(values), {}};
    for (const auto& [name, tensor] : parameters) other.parameters.set(name, leaf(tensor));
    return other;
  }
};

Inputs random_inputs(const Mechanism& mechanism, int64_t B, int64_t L) {
  const auto leaf = [&] { return at::randn({B, L, kWidth}).requires_grad_(); };
  Inputs in{leaf(), leaf(), leaf(), initialized(mechanism.parameters({kWidth, kWidth, kWidth, kWidth}))};
  for (const auto& [name, tensor] : in.parameters) tensor.requires_grad_();
  return in;
}

/// Context, gradients of its sum of squares, and for order 2 the gradients of the sum of squares of those.
std::vector<Tensor> run(const std::function<Tensor(const Inputs&)>& context_of, const Inputs& in, int order = 1) {
  const auto context = context_of(in);
  auto results = torch::autograd::grad({context.square().sum()}, in.all(), {}, c10::nullopt, /*create_graph=*/order > 1,
                                       /*allow_unused=*/true);
  if (order > 1) {
    Tensor total = at::zeros({});
    for (const auto& grad : results) total = total + grad.square().sum();
    const auto second = torch::autograd::grad({total}, in.all(), {}, c10::nullopt, false, /*allow_unused=*/true);
    results.insert(results.end(), second.begin(), second.end());
  }
  results.push_back(context);
  return results;
}

std::function<Tensor(const Inputs&)> on_path(const Mechanism& mechanism, Path path) {
  return [=](const Inputs& in) {
    Call call;
    call.path = path;
    return attend(in.query, in.keys, in.values, mechanism, in.parameters, call).context;
  };
}

Tensor plain_additive(const Inputs& in) {
  const auto& p = in.parameters;
  const auto query = at::linear(in.query, p["score.from_query"], p["score.bias"]).unsqueeze(2);  // [B, Lq, 1, Dh]
  const auto keys = at::linear(in.keys, p["score.from_keys"]).unsqueeze(1);                      // [B, 1, Lk, Dh]
  const auto scores = at::linear(at::tanh(query + keys), p["score.to_scores"]).squeeze(-1);      // [B, Lq, Lk]
  return at::matmul(at::softmax(scores, -1), in.values);
}

Tensor plain_scaled_dot(const Inputs& in) {
  const auto scores = at::matmul(in.query, in.keys.transpose(1, 2)) / std::sqrt(static_cast<double>(kWidth));
  return at::matmul(at::softmax(scores, -1), in.values);
}

// ---- memory --------------------------------------------------------------------------------------------------------

struct MemoryRow {
  std::string mechanism, path;
  int order;
  int64_t length;
  std::string malloc;  // "default" or "threshold"
  double mib = 0;      // the result
};

/// "VmHWM" or "VmRSS" of this process, in MiB.
double resident(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(field + ":", 0) == 0) return std::stod(line.substr(field.size() + 1)) / 1024;
  fail("bench: /proc/self/status has no ", field, "; this needs Linux");
}

/// Resets VmHWM to the current VmRSS.
void forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  check(file.good(), "bench: cannot write to /proc/self/clear_refs, which resets the peak of memory");
}

/// Runs in a child process: prints the MiB that one call needs.
void measure_memory(const MemoryRow& row) {
  if (row.malloc == "threshold") mallopt(M_MMAP_THRESHOLD, kThreshold);
  const auto mechanism = Mechanism::parse(row.mechanism);
  const auto context_of = on_path(mechanism, row.path == "stored" ? Path::stored : Path::composed);
  run(context_of, random_inputs(mechanism, 1, 8), row.order);  // torch initializes itself in the first call
  const auto in = random_inputs(mechanism, 1, row.length);
  forget_peak();
  const double before = resident("VmRSS");
  const auto results = run(context_of, in, row.order);
  const double peak = resident("VmHWM");
  double kept = 0;
  for (const auto& x : results)
    if (x.defined()) kept += static_cast<double>(x.nbytes()) / kMiB;
  std::cout << peak - before - kept << '\n';
}

double memory_in_child(const MemoryRow& row) {
  char self[4096] = {};
  check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "bench: cannot find its own program");
  std::ostringstream command;
  command << "'" << self << "' --row '" << row.mechanism << "' " << row.path << ' ' << row.order << ' ' << row.length
          << ' ' << row.malloc;
  FILE* child = popen(command.str().c_str(), "r");
  check(child != nullptr, "bench: cannot start ", command.str());
  double mib = 0;
  const int read = std::fscanf(child, "%lf", &mib);
  check(pclose(child) == 0 && read == 1, "bench: command failed: ", command.str());
  return mib;
}

std::vector<MemoryRow> memory_rows(bool full) {
  const int64_t length = full ? 4096 : 2048;
  std::vector<MemoryRow> rows;
  for (const char* setting : {"default", "threshold"}) {
    rows.push_back({"additive + softmax", "composed", 1, length, setting});
    rows.push_back({"additive + softmax", "composed", 2, length / 2, setting});
    rows.push_back({"scaled_dot + softmax", "composed", 1, length, setting});
    rows.push_back({"scaled_dot + softmax", "composed", 2, length / 2, setting});
    rows.push_back({"additive + softmax", "stored", 1, length / 4, setting});
  }
  return rows;
}

std::vector<MemoryRow> measure_memory_rows(bool full) {
  std::printf(
      "\nMemory in addition to inputs, outputs and gradients; B = 1, Lq = Lk = L, D = Dh = %d, float; bar %.0f MiB "
      "(stored: for comparison)\n",
      static_cast<int>(kWidth), kBar);
  std::printf("  %-22s %-9s %5s %6s  %-10s %9s\n", "mechanism", "path", "order", "L", "malloc", "MiB");
  auto rows = memory_rows(full);
  for (auto& row : rows) {
    row.mib = memory_in_child(row);
    std::printf("  %-22s %-9s %5d %6d  %-10s %9.1f%s\n", row.mechanism.c_str(), row.path.c_str(), row.order,
                static_cast<int>(row.length), row.malloc.c_str(), row.mib,
                row.path == "composed" && row.mib > kBar ? "  over the bar" : "");
    std::fflush(stdout);
  }
  return rows;
}

// ---- time ----------------------------------------------------------------------------------------------------------

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Timing {
  double median = 0, min = 0, max = 0;  // seconds
};

Timing summary(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

struct TimeRow {
  std::string mechanism, path;  // path: "composed", "stored", "libtorch"
  int64_t batch, length;
  Timing time;
  double error;  // largest difference of context and gradients, relative to the largest number of each
};

double error_of(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!expected[i].defined() || expected[i].numel() == 0) continue;
    const double largest = std::max(1e-30, expected[i].abs().max().item<double>());
    worst = std::max(worst, (got[i].to(at::kDouble) - expected[i]).abs().max().item<double>() / largest);
  }
  return worst;
}

struct Case {
  std::string mechanism;
  std::function<Tensor(const Inputs&)> plain;
  int64_t batch, length;
};

std::vector<TimeRow> measure_time(const Case& c, int rounds) {
  const auto mechanism = Mechanism::parse(c.mechanism);
  const auto in = random_inputs(mechanism, c.batch, c.length);
  const auto expected = run(c.plain, in.to(at::kDouble));
  const std::vector<std::pair<std::string, std::function<Tensor(const Inputs&)>>> ways{
      {"composed", on_path(mechanism, Path::composed)},
      {"stored", on_path(mechanism, Path::stored)},
      {"libtorch", c.plain}};
  std::vector<std::vector<double>> times(ways.size());
  std::vector<TimeRow> rows;
  for (const auto& [name, way] : ways)  // the first run of each is not timed
    rows.push_back({c.mechanism, name, c.batch, c.length, {}, error_of(run(way, in), expected)});
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i) times[i].push_back(seconds([&] { run(ways[i].second, in); }));
  for (size_t i = 0; i < rows.size(); ++i) rows[i].time = summary(times[i]);
  return rows;
}

void print_times(const std::vector<TimeRow>& rows, bool ratios) {
  for (const auto& row : rows) {
    const double ratio = row.time.median / rows.back().time.median;
    std::printf("  %-22s %3d x %-5d %-9s %9.2f  %9.2f .. %-9.2f  %8.1e  %s\n", row.mechanism.c_str(),
                static_cast<int>(row.batch), static_cast<int>(row.length), row.path.c_str(), 1e3 * row.time.median,
                1e3 * row.time.min, 1e3 * row.time.max, row.error,
                ratios ? std::to_string(ratio).substr(0, 4).c_str() : "-");
  }
  std::fflush(stdout);
}

std::vector<TimeRow> measure_time_rows(bool full, bool ratios) {
  constexpr int kRounds = 7;
  std::printf(
      "\nTime of forward and backward, ms, median and range of %d; D = Dh = %d, float; last column: times plain "
      "libtorch\n",
      kRounds, static_cast<int>(kWidth));
  std::printf("  %-22s %-11s %-9s %9s  %-22s  %8s\n", "mechanism", "  B x L", "path", "median", "     least .. most",
              "error");
  std::vector<std::pair<int64_t, int64_t>> sizes{{8, 128}, {1, 512}};
  if (full) sizes.emplace_back(1, 1024);
  std::vector<TimeRow> all;
  for (const auto& [batch, length] : sizes)
    for (const auto& c : {Case{"additive + softmax", plain_additive, batch, length},
                          Case{"scaled_dot + softmax", plain_scaled_dot, batch, length}}) {
      const auto rows = measure_time(c, kRounds);
      print_times(rows, ratios);
      all.insert(all.end(), rows.begin(), rows.end());
    }
  return all;
}

// ---- report --------------------------------------------------------------------------------------------------------

struct Machine {
  Blas blas = blas_in_use();
  double load = 0;                // load average of the last minute: other programs distort all times
  double gflops = 0, gbytes = 0;  // measured: product of 1024 x 1024 matrices, copy of 64 MiB
};

Machine measure_machine() {
  Machine machine;
  check(getloadavg(&machine.load, 1) == 1, "bench: cannot read the load average");
  const auto a = at::randn({1024, 1024}), b = at::randn({1024, 1024});
  const auto from = at::randn({16 << 20});
  auto to = at::empty_like(from);
  std::vector<double> products, copies;
  for (int i = 0; i < 8; ++i) {
    products.push_back(seconds([&] { at::matmul(a, b); }));
    copies.push_back(seconds([&] { to.copy_(from); }));
  }
  machine.gflops = 2 * std::pow(1024, 3) / summary(products).min / 1e9;
  machine.gbytes = 2 * static_cast<double>(from.nbytes()) / summary(copies).min / 1e9;
  return machine;
}

void print_machine(const Machine& machine) {
  std::printf("heed %s (%s), torch %s, %s\n", std::string(kVersion).c_str(), std::string(commit()).c_str(),
              TORCH_VERSION, compiler().c_str());
  std::printf("%s; %s; %d threads; BLAS: %s (threads: %s)\n", cpu_model().c_str(),
              joined(instruction_sets(), " ").c_str(), at::get_num_threads(), machine.blas.name.c_str(),
              machine.blas.threads.c_str());
  std::printf("measured: float matrix product %.1f GFLOP/s, copy %.1f GB/s\n", machine.gflops, machine.gbytes);
  std::printf("load before the start: %.1f%s\n", machine.load,
              machine.load > 0.5 ? "; other programs run: do not trust the times" : "");
  if (!machine.blas.warning().empty())
    std::printf("warning: %s; no ratios are printed\n", machine.blas.warning().c_str());
}

std::string quoted(const std::string& text) {
  std::string safe;
  for (const char letter : text)
    safe += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
  return "\"" + safe + "\"";
}

void write_json(const std::string& path, const Machine& machine, const std::vector<MemoryRow>& memory,
                const std::vector<TimeRow>& times) {
  std::ofstream out(path);
  out << "{\n  \"version\": " << quoted(std::string(kVersion)) << ", \"commit\": " << quoted(std::string(commit()))
      << ", \"torch\": " << quoted(TORCH_VERSION) << ", \"compiler\": " << quoted(compiler())
      << ",\n  \"cpu\": " << quoted(cpu_model())
      << ", \"instruction_sets\": " << quoted(joined(instruction_sets(), " "))
      << ", \"threads\": " << at::get_num_threads() << ",\n  \"blas\": " << quoted(machine.blas.name)
      << ", \"blas_threads\": " << quoted(machine.blas.threads) << ",\n  \"load\": " << machine.load
      << ", \"matmul_gflops\": " << machine.gflops << ", \"copy_gbytes\": " << machine.gbytes << ",\n  \"memory\": [";
  for (size_t i = 0; i < memory.size(); ++i) {
    const auto& row = memory[i];
    out << (i ? ",\n    " : "\n    ") << "{\"mechanism\": " << quoted(row.mechanism)
        << ", \"path\": " << quoted(row.path) << ", \"order\": " << row.order << ", \"length\": " << row.length
        << ", \"malloc\": " << quoted(row.malloc) << ", \"mib\": " << row.mib << "}";
  }
  out << "\n  ],\n  \"time\": [";
  for (size_t i = 0; i < times.size(); ++i) {
    const auto& row = times[i];
    out << (i ? ",\n    " : "\n    ") << "{\"mechanism\": " << quoted(row.mechanism)
        << ", \"path\": " << quoted(row.path) << ", \"batch\": " << row.batch << ", \"length\": " << row.length
        << ", \"median_s\": " << row.time.median << ", \"least_s\": " << row.time.min
        << ", \"most_s\": " << row.time.max << ", \"error\": " << row.error << "}";
  }
  out << "\n  ]\n}\n";
  out.close();
  check(out.good(), "bench: cannot write ", path);
}

int main_of(const std::vector<std::string>& arguments) {
  torch::manual_seed(1);
  use_threads(threads_from_affinity());
  if (arguments.size() == 6 && arguments[0] == "--row") {
    measure_memory({arguments[1], arguments[2], std::stoi(arguments[3]), std::stoll(arguments[4]), arguments[5]});
    return 0;
  }
  bool full = false;
  std::string json;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full or --json <file>");
  }
  const auto machine = measure_machine();
  print_machine(machine);
  const auto times = measure_time_rows(full, machine.blas.warning().empty());
  const auto memory = measure_memory_rows(full);
  if (!json.empty()) write_json(json, machine, memory, times);
  const bool over = std::any_of(memory.begin(), memory.end(), [](const MemoryRow& row) {
    return row.path == "composed" && row.malloc == "threshold" && row.mib > kBar;
  });
  return over ? 1 : 0;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  try {
    return heed::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_composed: " << error.what() << '\n';
    return 1;
  }
}
