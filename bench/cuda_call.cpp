// bench_cuda_call [--full] [--ops] [--only <words>] [--json <file>]: calls on a GPU. --ops lists the operations of
// torch and the nodes of autograd in a decoder's step; --only takes the races whose names have these words. What a call
// with one token costs the host; additive attention and a decoder's step, live and replayed from a CUDA graph, next to
// the same formula in eager libtorch; and the length from which SDPA's engine is faster than the own kernel for plain
// dot (heed/backend/sdpa_table.h). Times of the device are those between two events of its stream; errors are against
// the same call in double. The report is written as JSON to the given file, by default to the build folder.

#include <iostream>
#include <mutex>

#include "bench/report.h"
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "heed/heed.h"

namespace heed::bench {
namespace {

const at::TensorOptions kThere = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);

void wait() {
  c10::cuda::device_synchronize();
}

/// Seconds of the host for one call, which it only launches.
double host_time(const std::function<void()>& call, int calls) {
  wait();
  const double all = seconds([&] {
    for (int i = 0; i < calls; ++i) call();
  });
  wait();
  return all / calls;
}

/// Seconds of the device for one call.
double device_time(const std::function<void()>& call, int calls) {
  at::cuda::CUDAEvent first(cudaEventDefault), last(cudaEventDefault);
  wait();
  first.record();
  for (int i = 0; i < calls; ++i) call();
  last.record();
  last.synchronize();
  return first.elapsed_time(last) * 1e-3 / calls;
}

/// How a baseline is measured.
struct Timed {
  std::string name;
  std::function<void()> call;
  bool on_host = false;
  std::function<Error()> error{};
};

/// Rounds in which each baseline runs once, after a warm-up.
void race(Race& race, const std::vector<Timed>& all, int rounds, int calls) {
  for (const auto& one : all) {
    race.add(one.name, one.call, one.error);
    for (int i = 0; i < 3; ++i) one.call();
    wait();
    if (one.error) race.baselines.back().found = one.error();
  }
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < all.size(); ++i)
      race.baselines[i].times.push_back(all[i].on_host ? host_time(all[i].call, calls)
                                                       : device_time(all[i].call, calls));
}

double middle(const Race& race, const std::string& who) {
  return median(race.at(who).ran());
}

/// A figure of medians, which a graph's or a host's times are.
void add(Race& race, const std::string& name, double value, const std::string& unit, double bar = kAbsent,
         bool at_least = true) {
  Figure figure{.name = name, .unit = unit, .bar = bar, .at_least = at_least};
  figure.value = figure.middle = value;
  figure.noise = 0;
  race.figures.push_back(figure);
}

Error apart(const Tensor& x, const Tensor& exact) {
  const auto d = x.detach().to(at::kDouble) - exact, r = exact;
  return {(d.norm() / r.norm()).item<double>(), (d.abs().max() / r.abs().max()).item<double>()};
}

/// A call captured in a CUDA graph, after it has run a few times on the same stream.
std::function<void()> replayed(const std::function<void()>& call) {
  const auto graph = std::make_shared<at::cuda::CUDAGraph>();
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    for (int i = 0; i < 3; ++i) call();
    wait();
    graph->capture_begin();
    call();
    graph->capture_end();
  }
  wait();
  return [graph] { graph->replay(); };
}

Tensor leaf(at::IntArrayRef shape) {
  return at::randn(shape, kThere).requires_grad_();
}

// ---- the host's share

Race one_token(const std::string& spec, int rounds) {
  Race found("one token, " + spec,
             "host: a call of " + spec + " with 1 query and 1 key of 64 features, without gradient");
  const at::NoGradGuard no_grad;
  const auto mechanism = Mechanism::parse(spec);
  const auto x = at::randn({1, 1, 1, 64}, kThere);
  Parameters parameters;
  for (const auto& [name, tensor] : initialized(mechanism.parameters({64, 64, 64, 64})))
    parameters.set(name, tensor.to(at::kCUDA));
  Attention module(
      AttentionOptions{.query_dim = 64, .key_dim = 64, .value_dim = 64, .hidden_dim = 64, .mechanism = mechanism});
  module->to(at::kCUDA);
  module->eval();
  const auto row = x.squeeze(1);
  const auto count = at::ones({1}, kThere.dtype(at::kLong));
  const Memory memory = module->prepare(row, row), masked_memory = module->prepare(row, row, {.key_count = count});
  Call masked;
  masked.mask.key_count = count;
  std::vector<Timed> all{
      {"attend()", [=] { attend(x, x, x, mechanism, parameters); }, true},
      {"attend(), key_count", [=] { attend(x, x, x, mechanism, parameters, masked); }, true},
      {"module from a memory", [=]() mutable { module->forward(row, memory); }, true},
      {"module from a memory with a key_count", [=]() mutable { module->forward(row, masked_memory); }, true},
      {"at::scaled_dot_product_attention", [=] { at::scaled_dot_product_attention(x, x, x); }, true}};
  race(found, all, rounds, 100);
  for (const auto& one : all) add(found, one.name, 1e6 * middle(found, one.name), "us");
  add(found, "a call", 1e6 * middle(found, "attend()"), "us", 30, /*at_least=*/false);
  if (spec == "scaled_dot + softmax")
    add(found, "a call beyond SDPA",
        1e6 * (middle(found, "attend()") - middle(found, "at::scaled_dot_product_attention")), "us", 5,
        /*at_least=*/false);
  found.print();
  return found;
}

// ---- additive attention

struct Additive {
  Tensor query, keys, values, from_query, from_keys, to_scores;
  std::vector<Tensor> leaves() const { return {query, keys, values, from_query, from_keys, to_scores}; }

  static const Mechanism& mechanism() {
    static const auto parsed = Mechanism::parse("additive(bias=false) + softmax");
    return parsed;
  }
  Parameters parameters() const {
    Parameters p;
    p.set("score.from_query", from_query);
    p.set("score.from_keys", from_keys);
    p.set("score.to_scores", to_scores);
    return p;
  }
  Tensor ours(const Call& call = {}) const {
    return attend(query, keys, values, mechanism(), parameters(), call).context;
  }
  Plan plan() const { return why(query, keys, values, mechanism(), parameters()); }
  /// In double, on the composed path.
  Additive wide() const {
    const auto as = [](const Tensor& x) { return x.detach().to(at::kDouble).requires_grad_(); };
    return {as(query), as(keys), as(values), as(from_query), as(from_keys), as(to_scores)};
  }
  Tensor eager() const {
    const auto hidden = at::tanh(at::linear(query, from_query).unsqueeze(2) + at::linear(keys, from_keys).unsqueeze(1));
    return at::matmul(at::softmax(at::matmul(hidden, to_scores.view({-1, 1})).squeeze(-1), -1), values);
  }
};

Additive additive_of(int64_t batch, int64_t queries, int64_t keys, int64_t query_dim, int64_t hidden, int64_t values) {
  Additive a{leaf({batch, queries, query_dim}), leaf({batch, keys, values}), leaf({batch, keys, values}),
             leaf({hidden, query_dim}),         leaf({hidden, values}),      leaf({1, hidden})};
  const at::NoGradGuard no_grad;
  a.from_query /= std::sqrt(static_cast<double>(query_dim));
  a.from_keys /= std::sqrt(static_cast<double>(values));
  return a;
}

/// Gradients of sum(context * seed), joined, so that one error speaks for all.
std::vector<Tensor> learned(const Tensor& context, const std::vector<Tensor>& leaves, const Tensor& seed) {
  return torch::autograd::grad({context}, leaves, {seed.to(context.scalar_type())});
}
Tensor joined(const std::vector<Tensor>& all) {
  std::vector<Tensor> flat;
  for (const auto& x : all) flat.push_back(x.detach().to(at::kDouble).flatten() / x.detach().to(at::kDouble).norm());
  return at::cat(flat);
}

Race long_additive(int64_t length, int rounds) {
  Race found("additive N " + std::to_string(length),
             "additive + softmax, B 1, N " + std::to_string(length) + ", Dh 128, Dv 128, float, projections included");
  const Additive a = additive_of(1, length, length, 128, 128, 128);
  const auto seed = at::randn({1, length, 128}, kThere);
  const Additive wide = a.wide();
  Call composed;
  composed.path = Path::composed;
  composed.block_bytes = int64_t{2} << 30;
  const auto exact = wide.ours(composed);
  const auto exact_grads = joined(learned(exact, wide.leaves(), seed));
  const auto forward = [a](bool eager) {
    const at::NoGradGuard no_grad;
    return eager ? a.eager() : a.ours();
  };
  const auto both = [a, seed](bool eager) { return learned(eager ? a.eager() : a.ours(), a.leaves(), seed); };
  std::vector<Timed> all;
  for (const bool eager : {false, true}) {
    const std::string who = eager ? "eager" : "heed";
    all.push_back(
        {who + " forward", [=] { forward(eager); }, false, [=] { return apart(forward(eager), exact.detach()); }});
    all.push_back({who + " forward + backward", [=] { both(eager); }, false,
                   [=] { return apart(joined(both(eager)), exact_grads); }});
  }
  race(found, all, rounds, 2);
  const double pairs = static_cast<double>(length) * static_cast<double>(length) * 128;
  add(found, "pair-features per second, forward", pairs / middle(found, "heed forward"), "1/s", 4e12);
  add(found, "forward, times eager", middle(found, "eager forward") / middle(found, "heed forward"), "x");
  add(found, "forward + backward, times eager",
      middle(found, "eager forward + backward") / middle(found, "heed forward + backward"), "x");
  add(found, "forward + backward", 1e3 * middle(found, "heed forward + backward"), "ms", 34.4 / 14, /*at_least=*/false);
  add(found, "error, forward", found.at("heed forward").found.norm, "", 5e-6, /*at_least=*/false);
  found.note = a.plan().to_string();
  found.print();
  return found;
}

/// Memory beyond inputs, result and gradients.
MemoryRow memory_of_additive(int64_t length) {
  using c10::cuda::CUDACachingAllocator::getDeviceStats;
  const Additive a = additive_of(1, length, length, 128, 128, 128);
  const auto seed = at::randn({1, length, 128}, kThere);
  learned(a.ours(), a.leaves(), seed);
  wait();
  const auto device = c10::cuda::current_device();
  const auto bytes = [&](bool peak) {
    const auto all = getDeviceStats(device).allocated_bytes[0];
    return static_cast<double>(peak ? all.peak : all.current);
  };
  c10::cuda::CUDACachingAllocator::resetPeakStats(device);
  const double before = bytes(false);
  const auto grads = learned(a.ours(), a.leaves(), seed);
  wait();
  double results = 0;
  for (const auto& x : grads) results += static_cast<double>(x.nbytes());
  const double mib = (bytes(true) - before - results) / (1 << 20);
  std::printf("\nadditive forward + backward, N %d: %.0f MiB beyond inputs and gradients (bar: 256)\n",
              static_cast<int>(length), mib);
  return {"additive forward + backward on a GPU", "caching allocator", "", length, mib, 256};
}

// ---- a decoder's step

struct Step {
  Attention module{nullptr};
  Memory memory;
  Tensor query;
  std::vector<Tensor> leaves;

  Tensor ours() { return module->forward(query, memory).context; }
  /// The formula, from the same projected keys.
  Tensor eager() {
    const auto p = module->named();
    const auto keys = memory.keys.rows().squeeze(1), values = memory.values.rows().squeeze(1);
    const auto hidden =
        at::tanh(at::linear(query, p["score.from_query"], p["score.bias"]).unsqueeze(2) + keys.unsqueeze(1));
    auto scores = at::matmul(hidden, p["score.to_scores"].view({-1, 1})).squeeze(-1);
    if (memory.keep.defined())
      scores = scores.masked_fill(memory.keep.rows().view({-1, 1, keys.size(1)}).logical_not(), -1e30);
    return at::matmul(at::softmax(scores, -1), values);
  }
};

Step step_of(int64_t batch, int64_t keys, int64_t hidden, int64_t values, bool masked) {
  Step s;
  s.module = Attention(AttentionOptions{.query_dim = hidden,
                                        .key_dim = values,
                                        .value_dim = values,
                                        .hidden_dim = hidden,
                                        .mechanism = Mechanism::parse("additive + softmax")});
  s.module->to(at::kCUDA);
  s.module->eval();
  const auto rows = at::randn({batch, keys, values}, kThere);
  Mask mask;
  if (masked) mask.key_count = at::randint(keys / 2, keys + 1, {batch}, kThere.dtype(at::kLong));
  {
    const at::NoGradGuard no_grad;
    s.memory = s.module->prepare(rows, rows, mask);
  }
  s.query = leaf({batch, 1, hidden});
  s.memory.keys = Growing(s.memory.keys.rows().detach().requires_grad_());
  s.memory.values = Growing(s.memory.values.rows().detach().requires_grad_());
  s.leaves = {s.query, s.memory.keys.rows(), s.memory.values.rows()};
  const auto p = s.module->named();
  for (const char* name : {"score.from_query", "score.bias", "score.to_scores"}) s.leaves.push_back(p[name]);
  return s;
}

Race decoder_step(bool masked, int rounds) {
  Race found(masked ? "decoder step, masked" : "decoder step",
             std::string("a decoder's step: additive + softmax from a memory, B 256, Lq 1, Lk 20, Dh 256, Dv 512") +
                 (masked ? ", key_count" : "") + ", forward + backward");
  auto s = std::make_shared<Step>(step_of(256, 20, 256, 512, masked));
  const auto seed = at::randn({256, 1, 512}, kThere);
  const auto both = [=](bool eager) { return learned(eager ? s->eager() : s->ours(), s->leaves, seed); };
  // In double, by the same formula.
  auto wide = std::make_shared<Step>(*s);
  wide->module = Attention(std::dynamic_pointer_cast<AttentionImpl>(s->module->clone()));
  wide->module->to(at::kDouble);
  const auto as_double = [](const Tensor& x) { return x.detach().to(at::kDouble).requires_grad_(); };
  wide->query = as_double(s->query);
  wide->memory.keys = Growing(as_double(s->memory.keys.rows()));
  wide->memory.values = Growing(as_double(s->memory.values.rows()));
  wide->leaves = {wide->query, wide->memory.keys.rows(), wide->memory.values.rows()};
  const auto p = wide->module->named();
  for (const char* name : {"score.from_query", "score.bias", "score.to_scores"}) wide->leaves.push_back(p[name]);
  const auto exact = joined(learned(wide->eager(), wide->leaves, seed));

  std::vector<Timed> all;
  for (const bool eager : {false, true}) {
    const std::string who = eager ? "eager" : "heed";
    all.push_back({who + ", forward, live", [=] { eager ? s->eager() : s->ours(); }});
    all.push_back({who + ", live", [=] { both(eager); }, false, [=] { return apart(joined(both(eager)), exact); }});
    all.push_back({who + ", replayed", replayed([=] { both(eager); })});
  }
  race(found, all, rounds, 20);
  for (const auto& one : all) add(found, one.name, 1e6 * middle(found, one.name), "us");
  add(found, "live, times eager", middle(found, "eager, live") / middle(found, "heed, live"), "x", 4);
  add(found, "replayed, times eager", middle(found, "eager, replayed") / middle(found, "heed, replayed"), "x", 2);
  found.note = s->module->forward(s->query, s->memory).plan.to_string();
  found.print();
  return found;
}

/// Prints what torch does for a decoder's step, forward and backward.
void print_operations(bool masked) {
  auto s = step_of(256, 20, 256, 512, masked);
  const auto seed = at::randn({256, 1, 512}, kThere);
  static std::mutex one_at_a_time;
  static std::vector<std::string> names;
  for (const bool eager : {false, true}) {
    const auto both = [&] { learned(eager ? s.eager() : s.ours(), s.leaves, seed); };
    for (int i = 0; i < 3; ++i) both();
    wait();
    names.clear();
    const auto handle = at::addGlobalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& f) -> std::unique_ptr<at::ObserverContext> {
          const std::lock_guard lock(one_at_a_time);
          names.emplace_back(f.name());
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    both();
    wait();
    at::removeCallback(handle);
    std::printf("\n%s, %s: %d operations\n", eager ? "eager" : "heed", masked ? "masked" : "not masked",
                static_cast<int>(names.size()));
    for (const auto& name : names) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
}

// ---- plain dot

Race dot_of(int64_t length, int rounds) {
  const int64_t batch = std::max<int64_t>(1, 8192 / length);
  Race found("dot N " + std::to_string(length), "dot by length: scaled_dot + softmax, B " + std::to_string(batch) +
                                                    ", H 8, N " + std::to_string(length) +
                                                    ", D 64, float, forward + backward");
  const auto q = leaf({batch, 8, length, 64}), k = leaf({batch, 8, length, 64}), v = leaf({batch, 8, length, 64});
  const auto seed = at::randn({batch, 8, length, 64}, kThere);
  Call own;
  own.outputs.lse = true;  // which SDPA does not return
  const auto ours = [=](const Call& call) { learned(attend(q, k, v, {}, {}, call).context, {q, k, v}, seed); };
  race(found,
       {{"heed", [=] { ours({}); }},
        {"heed with lse", [=] { ours(own); }},
        {"at::scaled_dot_product_attention",
         [=] {
           learned(at::scaled_dot_product_attention(q, k, v), {q, k, v}, seed);
         }}},
       rounds, 10);
  add(found, "SDPA, times heed", middle(found, "at::scaled_dot_product_attention") / middle(found, "heed"), "x");
  add(found, "SDPA, times heed with lse",
      middle(found, "at::scaled_dot_product_attention") / middle(found, "heed with lse"), "x");
  found.note = why(q, k, v).to_string() + "; with lse: " + why(q, k, v, {}, {}, own).kernel;
  found.print();
  return found;
}

int main_of(const std::vector<std::string>& arguments) {
  std::string json = "bench_cuda_call.json";
  std::string only;
  bool full = false, operations = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--ops")
      operations = true;
    else if (arguments[i] == "--only" && i + 1 < arguments.size())
      only = arguments[++i];
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full, --ops, --only <words> or --json <file>");
  }
  check(at::hasCUDA() && c10::cuda::device_count() > 0, "bench: got no GPU, expected one");
  torch::manual_seed(1);
  const auto cores = one_of_each_core();
  check(!cores.empty() && pin(cores[0]), "bench: cannot pin the thread to a processor");
  use_threads(1);
  if (operations)
    for (const bool masked : {false, true}) print_operations(masked);
  const auto machine = Machine::measure(cores);
  machine.print();
  const int rounds = full ? 51 : 15;
  std::vector<Race> races;
  std::vector<std::string> failed;
  const auto attempt = [&](const std::string& name, const std::function<void()>& one) {
    if (name.find(only) == std::string::npos) return;
    try {
      one();
    } catch (const std::exception& error) {
      failed.push_back(std::string(error.what()).substr(0, 500));
      std::printf("\nfailed: %s\n", failed.back().c_str());
    }
  };
  for (const char* spec : {"additive + softmax", "scaled_dot + softmax"})
    attempt("one token", [&] { races.push_back(one_token(spec, rounds)); });
  attempt("additive", [&] { races.push_back(long_additive(4096, rounds)); });
  for (const bool masked : {false, true})
    attempt("decoder step", [&] { races.push_back(decoder_step(masked, rounds)); });
  for (const int64_t length : {16, 32, 64, 128, 256, 512, 1024, 2048})
    attempt("dot", [&] { races.push_back(dot_of(length, rounds)); });
  std::vector<MemoryRow> memory;
  attempt("additive", [&] { memory.push_back(memory_of_additive(16384)); });
  write_json(json, machine, races, memory, failed);
  std::printf("\nThe report is in %s\n", json.c_str());
  return failed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_cuda_call: " << error.what() << '\n';
    return 1;
  }
}
