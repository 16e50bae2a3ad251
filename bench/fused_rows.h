// The rows of the report: each compares our kernels with the limits of the core and with plain libtorch.

#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <sstream>

#include "bench/cases.h"
#include "bench/plain.h"
#include "bench/race.h"
#include "bench/report.h"
#include "bench/rulers.h"

namespace heed::bench {

inline const std::string kAvx512 = "avx512";
inline const Setting kDot{}, kCausal{.causal = true}, kAdditive{.score = ScoreKind::additive};

struct Bench {
  bool full = false;
  Machine machine{};
  std::vector<Race> races{};
  std::vector<MemoryRow> memory{};

  Pace pace() const { return full ? Pace{} : Pace{.rounds = 9, .slow_rounds = 2}; }
  void finish(Race race, bool print = true) {
    race.running_on = cpu::instruction_set();
    for (auto& baseline : race.baselines)
      baseline.run = {}, baseline.error = {};  // they refer to local variables of the caller
    if (print) race.print();
    races.push_back(std::move(race));
  }
};

inline double product(std::initializer_list<int64_t> sizes) {
  double all = 1;
  for (const int64_t n : sizes) all *= static_cast<double>(n);
  return all;
}

/// Adds a baseline "multiply-adds": about 10 ms of FMA on the instruction set in use. Returns its number of operations.
inline double add_ruler(Race& race) {
  const Fma fma(cpu::instruction_set());
  const int64_t rounds = fma.rounds_for(0.01);
  race.add("multiply-adds", [=] { fma.loop(rounds); });
  return static_cast<double>(rounds) * fma.flops;
}

inline Figure of_peak(const std::string& who, double flops, double ruler_flops, double bar = kAbsent,
                      const std::string& needs = kAvx512) {
  return {"% of peak, " + who, 100 * flops / ruler_flops, {"multiply-adds"}, {who}, "%", bar, true, needs};
}

inline Figure times(const std::string& who, const std::string& than, double bar = kAbsent) {  // speedup
  return {who + ", times " + than, 1, {than}, {who}, "x", bar, true, kAvx512};
}

inline Figure part(const std::string& who, const std::string& of, double bar = kAbsent) {  // ratio of times
  return {who + " / " + of, 1, {who}, {of}, "of the time", bar, false, kAvx512};
}

// ---- dot -----------------------------------------------------------------------------------------------------------

/// d = 64, N = 2048; 4 N^2 d floating-point operations forward, 10 N^2 d backward.
inline void dot(Bench& bench, const std::string& name, double forward_bar, double backward_bar,
                const std::string& needs) {
  constexpr int64_t N = 2048, D = 64;
  Race race(name, "dot + softmax, d 64, N 2048, on " + cpu::instruction_set());
  const auto in = Inputs::normal({1, 1, N, N, D, D}).bare();
  Case whole(in, kDot), causal(in, kCausal);
  const double ruler = add_ruler(race), flops = 4 * product({N, N, D});
  race.add("forward", whole.forward(), whole.context_error());
  race.add("backward", whole.backward(), whole.gradients_error());
  race.add("causal forward", causal.forward(), causal.context_error());
  race.add("causal backward", causal.backward(), causal.gradients_error());
  race.add("libtorch forward", [&] { run_plain(plain_dot(false), in.flat(), N); });
  race.add("libtorch forward + backward",
           [&] { plain_gradients(plain_dot(false), in.flat(), in.upstream.flatten(0, 1), N); });
  race.run(bench.pace());
  race.add(of_peak("forward", flops, ruler, forward_bar, needs));
  race.add(of_peak("backward", 2.5 * flops, ruler, backward_bar, needs));
  race.add(part("causal forward", "forward", needs == kAvx512 ? 0.56 : kAbsent));
  race.add(part("causal backward", "backward"));
  race.add(times("forward", "libtorch forward"));
  bench.finish(std::move(race));
}

inline void dot(Bench& bench) {
  dot(bench, "dot", 85, 80, kAvx512);
}

inline void dot_avx2(Bench& bench) {
  const auto sets = cpu::instruction_sets();
  if (std::find(sets.begin(), sets.end(), "avx2") == sets.end()) {
    std::printf("\ndot_avx2 is skipped: this machine has no AVX2\n");
    return;
  }
  struct Forced {
    std::string before = cpu::instruction_set();
    Forced() { cpu::use_instruction_set("avx2"); }
    ~Forced() { cpu::use_instruction_set(before); }
  } const forced;
  dot(bench, "dot_avx2", 78, 80, "avx2");
}

// ---- additive ------------------------------------------------------------------------------------------------------

inline int64_t best_chunk(const std::vector<int64_t>& chunks, const std::function<void(int64_t)>& run) {
  int64_t best = 0;
  double min = 1e30;
  for (const int64_t chunk : chunks) {
    const double time = seconds([&] { run(chunk); });
    if (time < min) min = time, best = chunk;
  }
  return best;
}

/// Dh = Dv = 128, N = 1024. Query and keys are already projected, for every baseline.
inline void additive(Bench& bench) {
  constexpr int64_t N = 1024, D = 128;
  const auto in = Inputs::normal({1, 1, N, N, D, D});
  const auto x = in.flat();
  const auto upstream = in.upstream.flatten(0, 1);
  const std::vector<int64_t> chunks =
      bench.full ? std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256} : std::vector<int64_t>{2, 8, 32};
  const int64_t forward_chunk = best_chunk(chunks, [&](int64_t n) { run_plain(frugal_additive, x, n); });
  const int64_t both_chunk = best_chunk(chunks, [&](int64_t n) { plain_gradients(frugal_additive, x, upstream, n); });
  Case c(in, kAdditive), wide(Inputs::normal({1, 1, N, N, D, D}, 8), kAdditive);
  Tensor context;
  std::vector<Tensor> grads;
  const auto expected = [&, twin = std::make_shared<Bound<double>>(in.in_double(), kAdditive)]() -> Bound<double>& {
    if (twin->grads.empty()) twin->forward(), twin->backward();
    return *twin;
  };
  const auto context_error = [&] { return error_of({context.unsqueeze(0)}, {expected().context}); };
  const auto gradients_error = [&] {
    std::vector<Tensor> got;
    for (const auto& grad : grads) got.push_back(grad.unsqueeze(0));
    return error_of(got, expected().grads);
  };

  Race race("additive", "additive + softmax, Dh = Dv = 128, N 1024");
  const std::string naive = "libtorch forward",
                    chunked = "libtorch forward, " + std::to_string(forward_chunk) + " queries",
                    naive_both = "libtorch forward + backward",
                    chunked_both = "libtorch both, " + std::to_string(both_chunk) + " queries";
  const double ruler = add_ruler(race);
  race.add("forward", c.forward(), c.context_error());
  race.add("backward", c.backward(), c.gradients_error());
  race.add("forward + backward", c.both(), c.gradients_error());
  race.add("forward, sigma 8", wide.forward(), wide.context_error());
  race.add(
      naive, [&] { context = run_plain(plain_additive, x, N); }, context_error);
  race.add(
      chunked, [&] { context = run_plain(frugal_additive, x, forward_chunk); }, context_error);
  race.add(
      naive_both, [&] { grads = plain_gradients(plain_additive, x, upstream, N); }, gradients_error);
  race.add(
      chunked_both, [&] { grads = plain_gradients(frugal_additive, x, upstream, both_chunk); }, gradients_error);
  race.run(bench.pace());
  const double pairs = product({N, N, D});
  race.add({"forward", 1e-9 * pairs, {}, {"forward"}, "G pair-features/s", 12, true, kAvx512});
  race.add(of_peak("forward", 2 * 4.25 * pairs, ruler));
  race.figures.back().note = "4.25 multiply-adds for a feature of a pair: 13/4 by folded quads, 1 to read out";
  race.add(times("forward", naive, 60));
  race.add(times("forward", chunked, 20));
  race.add(times("forward + backward", naive_both, 25));
  race.add(times("forward + backward", chunked_both, 12));
  bench.finish(std::move(race));
}

/// One decoder step on prepared keys. Bound by the bandwidth of the shared cache: keys and values are read in forward
/// and again in backward, and their gradients are written; a loop that does nothing else is a baseline.
inline void step(Bench& bench) {
  constexpr int64_t B = 64, Lk = 20, Dh = 256, Dv = 512;
  const auto in = Inputs::normal({B, 1, 1, Lk, Dh, Dv});
  const auto x = in.flat();
  const auto upstream = in.upstream.flatten(0, 1);
  Case c(in, {.score = ScoreKind::additive, .exp_keys = true}), plain(in, kAdditive);
  const auto of_keys = at::empty_like(in.keys), of_values = at::empty_like(in.values);
  Race race("step", "additive + softmax, one decoder step on prepared keys: B 64, Lq 1, Lk 20, Dh 256, Dv 512");
  race.add("forward", c.forward(), c.context_error());
  race.add("forward + backward", c.both(), c.gradients_error());
  race.add("the same without exp of keys", plain.both(), plain.gradients_error());
  race.add("composed forward + backward", [&] { plain_gradients(plain_additive, x, upstream, 1); });
  race.add("bare traffic", [&] {
    const auto read = [](const Tensor& t) { read_all(t.data_ptr<float>(), static_cast<size_t>(t.numel())); };
    const auto copy = [](const Tensor& t, const Tensor& to) {
      copy_all(t.data_ptr<float>(), static_cast<size_t>(t.numel()), to.data_ptr<float>());
    };
    read(in.keys), read(in.values);
    copy(in.keys, of_keys), copy(in.values, of_values);
  });
  race.run(bench.pace());
  const double bytes = 4 * product({B, Lk, Dh + Dv});
  race.add(times("forward + backward", "composed forward + backward", 5));
  race.add({"bare traffic / forward + backward", 100, {"bare traffic"}, {"forward + backward"}, "%"});
  race.add({"traffic", 4e-9 * bytes, {}, {"forward + backward"}, "GB/s"});
  std::ostringstream note;
  note.precision(3);
  note << "traffic: " << 3 * bytes / 1e6
       << " MB read and written (keys and values forward, again backward, their gradients), " << 4 * bytes / 1e6
       << " MB with the lines that a store fetches first";
  race.note = note.str();
  bench.finish(std::move(race));
}

// ---- multi-dimensional ---------------------------------------------------------------------------------------------

inline void multi(Bench& bench) {
  constexpr int64_t N = 512, D = 64;
  Race race("multi", "multi-dimensional, additive + softmax, N 512, Dh = Dv = 64, forward");
  MultiCase matrix_case(Inputs::normal({1, 1, N, N, D, D}, 1, /*matrix=*/true)),
      elementwise_case(Inputs::normal({1, 1, N, N, D, D}).bare());
  race.add("matrix", matrix_case.forward(), matrix_case.error());
  race.add("elementwise", elementwise_case.forward(), elementwise_case.error());
  race.add("libtorch matrix", [&] { run_plain(plain_multi, matrix_case.in().flat(), N); });
  race.add("libtorch elementwise", [&] { run_plain(plain_multi, elementwise_case.in().flat(), N); });
  race.run(bench.pace());
  race.add(times("matrix", "libtorch matrix", 6));
  race.add(times("elementwise", "libtorch elementwise", 15));
  race.add({"elementwise", 1e-9 * product({N, N, D}), {}, {"elementwise"}, "G pair-features/s"});
  bench.finish(std::move(race));
}

// ---- alignments ----------------------------------------------------------------------------------------------------

inline void align(Bench& bench) {
  constexpr int64_t N = 4096, D = 64;
  const auto normal = Inputs::normal({1, 1, N, N, D, D}), flat = Inputs::normal({1, 1, N, N, D, D}, 0.01);
  struct Runner {
    std::string name;
    const Inputs& in;
    Setting setting;
    double bar;
  };
  const std::vector<Runner> runners{
      {"softmax", normal, {}, kAbsent},
      {"softmax, flat", flat, {}, kAbsent},
      {"sparsemax", normal, {.align = AlignKind::sparsemax}, 0.8},
      {"sparsemax, flat", flat, {.align = AlignKind::sparsemax}, 2.5},
      {"entmax 1.5", normal, {.align = AlignKind::entmax}, 1.3},
      {"entmax 1.5, flat", flat, {.align = AlignKind::entmax}, 4},
      {"hard, drawn", normal, {.align = AlignKind::hard, .sample = true, .with_lse = false}, 1.15},
      {"hard, drawn, with log-probability", normal, {.align = AlignKind::hard, .sample = true}, kAbsent},
      {"sigmoid", normal, {.align = AlignKind::sigmoid}, kAbsent},
      {"identity", normal, {.align = AlignKind::identity}, kAbsent}};
  Race race("align", "dot, N 4096, d 64, forward; flat: query and keys N(0, 0.01^2)");
  std::vector<std::unique_ptr<Case>> cases;
  for (const auto& runner : runners) {
    cases.push_back(std::make_unique<Case>(runner.in, runner.setting));
    race.add(runner.name, cases.back()->forward(), cases.back()->context_error());
  }
  race.run(bench.pace());
  for (size_t i = 2; i < runners.size(); ++i) {
    race.add(part(runners[i].name, &runners[i].in == &flat ? "softmax, flat" : "softmax", runners[i].bar));
    if (runners[i].setting.sample)
      race.figures.back().note =
          std::to_string(cases[i]->drawn_differently) + " of 512 draws differ from those in double";
  }
  bench.finish(std::move(race));
}

/// The context and the weights of 16 queries.
inline void weights(Bench& bench) {
  constexpr int64_t N = 4096, D = 64, kRows = 16;
  const auto in = Inputs::normal({1, 1, N, N, D, D});
  Case c(in, kDot);
  const auto chosen = at::arange(kRows, at::kLong) * (N / kRows);
  auto some = at::empty({1, 1, kRows, N});
  kernels::RequestedOutputs<float> wanted;
  wanted.weights = some.data_ptr<float>();
  wanted.some_queries = chosen.data_ptr<int64_t>(), wanted.query_count = kRows;
  const auto error = [&] {
    const auto query = in.query.index_select(2, chosen).to(at::kDouble), keys = in.keys.to(at::kDouble);
    const auto scores = at::matmul(query, keys.transpose(2, 3)) / std::sqrt(static_cast<double>(D));
    return error_of({some}, {at::softmax(scores, -1)});
  };
  Race race("weights", "dot + softmax, N 4096, d 64, forward, and the weights of 16 queries");
  race.add("forward", c.forward());
  race.add(
      "forward + weights", [&] { c.single.forward(), cpu::report(c.single.p, wanted); }, error);
  race.run(bench.pace());
  race.add(part("forward + weights", "forward", 1.05));
  bench.finish(std::move(race));
}

// ---- decoding ------------------------------------------------------------------------------------------------------

/// One query in each of 8 heads over 8192 keys, on 8 key-value caches in turn, so that none is in the CPU's cache.
inline void decode(Bench& bench) {
  constexpr int64_t H = 8, L = 8192, D = 64, kCaches = 8, kEach = H * L * D;
  HugeBuffer buffer(2 * kCaches * kEach);
  const auto numbers = at::randn({kEach});
  for (int64_t i = 0; i < 2 * kCaches; ++i)
    std::memcpy(buffer.data() + i * kEach, numbers.data_ptr<float>(), kEach * sizeof(float));
  std::vector<std::unique_ptr<Case>> caches;
  for (int64_t i = 0; i < kCaches; ++i) {
    const auto view = [&](int64_t k) { return at::from_blob(buffer.data() + k * kEach, {1, H, L, D}); };
    const auto query = at::randn({1, H, 1, D});
    caches.push_back(
        std::make_unique<Case>(Inputs{query, view(2 * i), view(2 * i + 1), {}, at::randn({1, H, 1, D})}, kDot));
  }
  Race race("decode", "dot + softmax, one query over 8192 keys, d 64, 8 heads, 8 caches of 32 MiB in turn");
  race.add("read", [&] { read_all(buffer.data(), buffer.size()); });
  race.add(
      "forward",
      [&] {
        for (auto& c : caches) c->single.forward();
      },
      caches.back()->context_error());
  race.run(bench.pace());
  race.add({"% of the read bandwidth", 100, {"read"}, {"forward"}, "%", 85, true, kAvx512});
  race.add({"read", 1e-9 * static_cast<double>(buffer.size() * sizeof(float)), {}, {"read"}, "GB/s"});
  std::ostringstream note;
  note << static_cast<int>(on_huge_pages()) << " MiB of the process are on huge pages";
  race.note = note.str();
  bench.finish(std::move(race));
}

// ---- threads -------------------------------------------------------------------------------------------------------

/// The speedup of a second thread, relative to its speedup on multiply-adds alone.
inline void threads(Bench& bench) {
  if (bench.machine.cores.size() < 2) {
    std::printf("\nthreads is skipped: there is only one core to use\n");
    return;
  }
  Pool pool({bench.machine.cores[1]});
  const ParallelFor two = pool.parallel_for(), one = in_order;
  constexpr int64_t H = 6;
  Case dots(Inputs::normal({1, H, 2048, 2048, 64, 64}), kDot);
  Case sums(Inputs::normal({1, H, 1024, 1024, 128, 128}), kAdditive);
  const Fma fma(cpu::instruction_set());
  const int64_t rounds = fma.rounds_for(0.001);
  Race race("threads", "two threads: dot (N 2048, d 64) and additive (N 1024, D 128) + softmax, 6 heads");
  using Work = std::function<void(const ParallelFor&)>;
  const std::vector<std::pair<std::string, Work>> works{
      {"multiply-adds", [&](const ParallelFor& how) { how(50, [&](int64_t) { fma.loop(rounds); }); }},
      {"dot forward", [&](const ParallelFor& how) { dots.single.forward(how); }},
      {"dot backward", [&](const ParallelFor& how) { dots.single.backward(how); }},
      {"additive forward", [&](const ParallelFor& how) { sums.single.forward(how); }},
      {"additive backward", [&](const ParallelFor& how) { sums.single.backward(how); }}};
  for (const auto& [name, work] : works) {
    race.add(name + ", 1", [&run = work, &one] { run(one); });
    race.add(name + ", 2", [&run = work, &two] { run(two); });
  }
  auto pace = bench.pace();
  pace.slow = 1;  // baselines are long here: all run in every round
  race.run(pace);
  const std::string bare = works[0].first;
  race.add({"gain, " + bare, 1, {bare + ", 1"}, {bare + ", 2"}, "x"});
  for (size_t i = 1; i < works.size(); ++i) {
    const auto& name = works[i].first;
    race.add(
        {name, 1, {name + ", 1", bare + ", 2"}, {name + ", 2", bare + ", 1"}, "of the bare gain", 0.93, true, kAvx512});
    if (race.at(name + ", 2").min() < 0.02) race.figures.back().note = "less than 20 ms of work: too short";
  }
  bench.finish(std::move(race));
}

}  // namespace heed::bench
