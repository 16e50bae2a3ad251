// bench_call [--full] [--json <file>]: what a call costs that computes almost nothing: 1 query, 1 key, 8 features,
// float, one thread, pinned to one processor. A time is that of 1000 calls, so its ms are the us of one. The report is
// written as JSON to the given file, by default to the build folder.

#include <iostream>

#include "bench/report.h"
#include "bench/resident.h"
#include <torch/utils.h>

#include "heed/heed.h"

namespace heed::bench {
namespace {

constexpr int64_t kFeatures = 8;
constexpr int kCalls = 1000;

template <typename F>
std::function<void()> often(F call) {
  return [call]() mutable {
    for (int i = 0; i < kCalls; ++i) call();
  };
}

/// The mechanism in as few operations of libtorch as it takes.
Tensor plain(const std::string& spec, const Tensor& query, const Tensor& keys, const Tensor& values,
             const Parameters& p) {
  if (spec == "dot + softmax") return at::matmul(at::softmax(at::matmul(query, keys.transpose(1, 2)), -1), values);
  const auto hidden =
      at::linear(query, p["score.from_query"]).unsqueeze(2) + at::linear(keys, p["score.from_keys"]).unsqueeze(1);
  return at::matmul(at::softmax(at::matmul(at::tanh(hidden), p["score.to_scores"].view({-1, 1})).squeeze(-1), -1),
                    values);
}

Race race_of(const std::string& spec, const Pace& pace) {
  Race race(spec, "1000 calls of " + spec + ", 1 query, 1 key, 8 features");
  const auto mechanism = Mechanism::parse(spec);
  const auto parameters = initialized(mechanism.parameters({kFeatures, kFeatures, kFeatures, kFeatures}));
  const auto query = at::randn({1, 1, kFeatures}), keys = at::randn({1, 1, kFeatures}),
             values = at::randn({1, 1, kFeatures});
  Attention module(AttentionOptions{.query_dim = kFeatures,
                                    .key_dim = kFeatures,
                                    .value_dim = kFeatures,
                                    .hidden_dim = kFeatures,
                                    .mechanism = mechanism});
  module->eval();
  const Memory memory = module->prepare(keys, values);
  race.add("attend()", often([=] { attend(query, keys, values, mechanism, parameters); }));
  race.add("module", often([=]() mutable { module->forward(query, keys, values); }));
  race.add("module from a memory", often([=]() mutable { module->forward(query, memory); }));
  race.add("libtorch", often([=] { plain(spec, query, keys, values, parameters); }));
  race.run(pace);
  for (const char* who : {"attend()", "module", "module from a memory", "libtorch"})
    race.add({who, 1e3, {who}, {}, "us"});
  race.running_on = kernels::cpu::instruction_set();
  race.print();
  return race;
}

Race other_calls(const Pace& pace) {
  Race race("others", "1000 calls of functions around a call");
  const auto x = at::randn({1, 1, 1, kFeatures});
  race.add("scaled_dot_product_attention", often([=] { heed::scaled_dot_product_attention(x, x, x); }));
  race.add("Mechanism::parse", often([] { Mechanism::parse("additive + entmax(1.5)"); }));
  const auto keys = at::randn({1, 1, kFeatures});
  const auto mechanism = Mechanism::parse("additive + softmax");
  const auto parameters = initialized(mechanism.parameters({kFeatures, kFeatures, kFeatures, kFeatures}));
  race.add("why()", often([=] { why(keys, keys, keys, mechanism, parameters); }));
  race.run(pace);
  for (const char* who : {"scaled_dot_product_attention", "Mechanism::parse", "why()"})
    race.add({who, 1e3, {who}, {}, "us"});
  race.running_on = kernels::cpu::instruction_set();
  race.print();
  return race;
}

int main_of(const std::vector<std::string>& arguments) {
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_call.json";
  bool full = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full or --json <file>");
  }
  const at::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto cores = one_of_each_core();
  check(!cores.empty() && pin(cores[0]), "bench: cannot pin the thread to a processor");
  use_threads(1);
  const auto machine = Machine::measure(cores);
  machine.print();
  const Pace pace{.rounds = full ? 101 : 21, .enough = 0.1};
  std::vector<Race> races;
  for (const char* spec : {"additive + softmax", "dot + softmax"}) races.push_back(race_of(spec, pace));
  races.push_back(other_calls(pace));
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
    std::cerr << "bench_call: " << error.what() << '\n';
    return 1;
  }
}
