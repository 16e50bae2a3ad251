// bench_outputs [--full] [--json <file>]: what gradients of requested outputs cost: forward and backward of a call of
// 4096 queries and keys whose loss also depends on 16 rows of weights, on the entropy of every row, or on the
// log-weights at 4096 links, next to the same call whose loss depends on the context alone. Float, one thread, pinned
// to one processor. The report is written as JSON to the given file, by default to the build folder.

#include <iostream>

#include "bench/report.h"
#include "bench/resident.h"
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace heed::bench {
namespace {

constexpr int64_t kLength = 4096, kWidth = 64;
constexpr double kBar = 1.3;

struct Case {
  explicit Case(const std::string& spec) : mechanism(Mechanism::parse(spec)) {
    parameters = initialized(mechanism.parameters({kWidth, kWidth, kWidth, kWidth}));
    query = at::randn({1, kLength, kWidth}).requires_grad_();
    keys = at::randn({1, kLength, kWidth}).requires_grad_();
    values = at::randn({1, kLength, kWidth}).requires_grad_();
    for (const auto& x : parameters.values()) Tensor(x).requires_grad_();
  }

  /// Gradients of all inputs; `kind` of requested output: "", "rows", "entropy" or "links".
  std::vector<Tensor> gradients(const std::string& kind) const {
    Call call;
    if (kind == "rows") {
      call.outputs.weights = true;
      for (int64_t i = 0; i < 16; ++i) call.outputs.rows.push_back(i * kLength / 16);
    }
    call.outputs.entropy = kind == "entropy";
    if (kind == "links") {
      const auto each = at::arange(kLength), none = at::zeros_like(each);
      call.outputs.links = at::stack({none, none, each, each.flip(0)}, 1);
    }
    const auto a = attend(query, keys, values, mechanism, parameters, call);
    check(a.plan.path == Path::fused, "bench: expected the fused path, got ", a.plan.to_string());
    Tensor loss = a.context.sum();
    for (const auto& x : {a.weights, a.entropy, a.link_log_weights})
      if (x.defined()) loss = loss + x.square().sum();
    std::vector<Tensor> leaves{query, keys, values};
    for (const auto& x : parameters.values()) leaves.push_back(x);
    return torch::autograd::grad({loss}, leaves);
  }

  Mechanism mechanism;
  Parameters parameters;
  Tensor query, keys, values;
};

const std::vector<std::string> kKinds{"rows", "entropy", "links"};

std::string name_of(const std::string& kind) {
  return kind.empty() ? "context alone" : kind == "rows" ? "16 rows of weights" : kind == "links" ? "4096 links" : kind;
}

Race race_of(const std::string& spec, const Pace& pace) {
  Race race(spec, "forward and backward of " + spec + ", 4096 queries and keys, 64 features, float, one thread");
  const auto c = std::make_shared<Case>(spec);
  race.add(name_of(""), [c] { c->gradients(""); });
  for (const auto& kind : kKinds) race.add(name_of(kind), [c, kind] { c->gradients(kind); });
  race.run(pace);
  for (const auto& kind : kKinds)
    race.add({name_of(kind), 1, {name_of(kind)}, {name_of("")}, "of the time", kBar, false});
  race.running_on = kernels::cpu::instruction_set();
  race.print();
  return race;
}

/// MiB that forward and backward need in addition to their results.
void print_memory(const std::string& spec) {
  std::printf("memory of %s:", spec.c_str());
  for (const std::string kind : {"", "rows", "entropy", "links"})
    std::printf("  %s %s MiB", name_of(kind).c_str(), output_of("--memory '" + spec + "' '" + kind + "'").c_str());
  std::printf("\n");
}

int main_of(const std::vector<std::string>& arguments) {
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_outputs.json";
  bool full = false;
  torch::manual_seed(1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--memory" && i + 2 < arguments.size()) {
      use_threads(1);
      const Case c(arguments[i + 1]);
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
  for (const char* spec : {"dot + softmax", "additive + softmax"}) {
    races.push_back(race_of(spec, pace));
    print_memory(spec);
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
