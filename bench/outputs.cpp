// bench_outputs [--full] [--json <file>]: what gradients of requested outputs cost: forward and backward of a call of
// 4096 queries and keys whose loss also depends on 16 rows of weights, on the entropy of every row, or on the
// log-weights at 4096 links, next to the same call whose loss depends on the context alone. Then supervised attention:
// 8192 queries and keys, whose loss has the cross entropy at 8192 links, from the log-weights there or from all
// weights. Float, one thread, pinned to one processor. The report is written as JSON to the given file, by default to
// the build folder.

#include <iostream>

#include "bench/report.h"
#include "bench/resident.h"
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace heed::bench {
namespace {

constexpr int64_t kWidth = 64;
constexpr double kBar = 1.3;

struct Case {
  Case(const std::string& spec, int64_t count) : mechanism(Mechanism::parse(spec)), length(count) {
    parameters = initialized(mechanism.parameters({kWidth, kWidth, kWidth, kWidth}));
    query = at::randn({1, length, kWidth}).requires_grad_();
    keys = at::randn({1, length, kWidth}).requires_grad_();
    values = at::randn({1, length, kWidth}).requires_grad_();
    for (const auto& x : parameters.values()) Tensor(x).requires_grad_();
  }

  /// Gradients of all inputs; `kind` of requested output: "", "rows", "entropy", "links", or "weights": all of them.
  std::vector<Tensor> gradients(const std::string& kind) const {
    Call call;
    if (kind == "rows") {
      call.outputs.weights = true;
      for (int64_t i = 0; i < 16; ++i) call.outputs.rows.push_back(i * length / 16);
    }
    call.outputs.entropy = kind == "entropy";
    const auto each = at::arange(length), none = at::zeros_like(each), linked = each.flip(0);
    if (kind == "links") call.outputs.links = at::stack({none, none, each, linked}, 1);
    if (kind == "weights") call.outputs.weights = true;
    const auto a = attend(query, keys, values, mechanism, parameters, call);
    check(a.plan.path == Path::fused, "bench: expected the fused path, got ", a.plan.to_string());
    Tensor loss = a.context.sum();
    if (a.link_log_weights.defined()) loss = loss - a.link_log_weights.mean();
    if (kind == "weights") loss = loss - a.weights.gather(-1, linked.view({1, length, 1})).log().mean();
    if (kind == "rows") loss = loss + a.weights.square().sum();
    if (a.entropy.defined()) loss = loss + a.entropy.square().sum();
    std::vector<Tensor> leaves{query, keys, values};
    for (const auto& x : parameters.values()) leaves.push_back(x);
    return torch::autograd::grad({loss}, leaves);
  }

  Mechanism mechanism;
  int64_t length;
  Parameters parameters;
  Tensor query, keys, values;
};

/// The losses that are compared, of calls of one length.
struct Comparison {
  int64_t length;
  std::vector<std::string> kinds;  // next to the context alone
};
const std::vector<Comparison> kComparisons{{4096, {"rows", "entropy", "links"}}, {8192, {"links", "weights"}}};

std::string name_of(const std::string& kind, int64_t length) {
  if (kind.empty()) return "context alone";
  if (kind == "rows") return "16 rows of weights";
  if (kind == "weights") return "all weights";
  return kind == "links" ? std::to_string(length) + " links" : kind;
}

Race race_of(const std::string& spec, const Comparison& comparison, const Pace& pace) {
  const int64_t n = comparison.length;
  Race race(spec + ", " + std::to_string(n), "forward and backward of " + spec + ", " + std::to_string(n) +
                                                 " queries and keys, 64 features, float, one thread");
  const auto c = std::make_shared<Case>(spec, n);
  race.add(name_of("", n), [c] { c->gradients(""); });
  for (const auto& kind : comparison.kinds) race.add(name_of(kind, n), [c, kind] { c->gradients(kind); });
  race.run(pace);
  for (const auto& kind : comparison.kinds)
    race.add({name_of(kind, n), 1, {name_of(kind, n)}, {name_of("", n)}, "of the time", kBar, false});
  race.running_on = kernels::cpu::instruction_set();
  race.print();
  return race;
}

/// MiB that forward and backward need in addition to their results.
void print_memory(const std::string& spec, const Comparison& comparison) {
  std::printf("memory of %s:", spec.c_str());
  auto kinds = comparison.kinds;
  kinds.insert(kinds.begin(), "");
  for (const auto& kind : kinds)
    std::printf("  %s %s MiB", name_of(kind, comparison.length).c_str(),
                output_of("--memory '" + spec + "' '" + kind + "' " + std::to_string(comparison.length)).c_str());
  std::printf("\n");
}

int main_of(const std::vector<std::string>& arguments) {
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_outputs.json";
  bool full = false;
  torch::manual_seed(1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--memory" && i + 3 < arguments.size()) {
      use_threads(1);
      const Case c(arguments[i + 1], std::stoll(arguments[i + 3]));
      std::printf("%.1f", memory_of([&] { return c.gradients(arguments[i + 2]); }));
      return 0;
    }
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full or --json <file>");
  }
  const auto cores = one_of_each_core();
  check(!cores.empty() && pin(cores[0]), "bench: cannot pin the thread to a processor");
  use_threads(1);
  const auto machine = Machine::measure(cores);
  machine.print();
  const Pace pace{.rounds = full ? 15 : 5, .enough = 0.1, .slow_rounds = full ? 15 : 5};
  std::vector<Race> races;
  for (const auto& comparison : kComparisons)
    for (const char* spec : {"dot + softmax", "additive + softmax"}) {
      races.push_back(race_of(spec, comparison, pace));
      print_memory(spec, comparison);
    }
  write_json(json, machine, races, {}, {});
  std::printf("\nThe report is in %s\n", json.c_str());
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_outputs: " << error.what() << '\n';
    return 1;
  }
}
