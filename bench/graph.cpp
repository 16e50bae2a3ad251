// bench_graph [--full] [--json <file>]: layers of graph attention over a random graph with a million edges, forward and
// backward on two threads, against the same layers in plain libtorch. --full has more rounds. The report is written as
// JSON to the given file, by default to the build folder.
//
// There are two versions in plain libtorch, since its ways to gather and to add rows differ much in speed: with
// index_select and index_add, and with gather and scatter_add. The bar applies to the faster of the two. For
// comparison, the report has the time to stream once the bytes that our passes touch, on the same threads.

#include <iostream>

#include "bench/cases.h"
#include "bench/race.h"
#include "bench/report.h"
#include "bench/resident.h"
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "heed/structures/graph/gat.h"

namespace heed::bench {
namespace {

constexpr int64_t kNodes = 100000, kEdges = 1000000, kIn = 64, kHeads = 8, kOut = 8;
constexpr double kBar = 3;
constexpr int kThreads = 2;

// ---- plain libtorch ------------------------------------------------------------------------------------------------

/// One way to gather rows of x by index, and to sum rows with the same index.
struct Rows {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& index)> of;
  std::function<Tensor(const Tensor& x, const Tensor& index)> sum;
};

Tensor wide(const Tensor& index, const Tensor& like) {
  std::vector<int64_t> shape(static_cast<size_t>(like.dim()), 1);
  shape[0] = index.size(0);
  auto all = like.sizes().vec();
  all[0] = index.size(0);
  return index.view(shape).expand(all);
}
Tensor buffer_for_sums(const Tensor& x) {
  auto shape = x.sizes().vec();
  shape[0] = kNodes;
  return at::zeros(shape, x.options());
}

const std::vector<Rows> kRows{
    {"index_select, index_add", [](const Tensor& x, const Tensor& index) { return x.index_select(0, index); },
     [](const Tensor& x, const Tensor& index) { return buffer_for_sums(x).index_add(0, index, x); }},
    {"gather, scatter_add", [](const Tensor& x, const Tensor& index) { return x.gather(0, wide(index, x)); },
     [](const Tensor& x, const Tensor& index) { return buffer_for_sums(x).scatter_add(0, wide(index, x), x); }}};

/// The features of the nodes and the parameters of a layer, as leaves of autograd.
struct Leaves {
  Tensor nodes, values, receiver, self, neighbor, to_scores;

  std::vector<Tensor> all() const {
    std::vector<Tensor> some;
    for (const auto& x : {nodes, values, receiver, self, neighbor, to_scores})
      if (x.defined()) some.push_back(x);
    return some;
  }
  static Leaves of(const GraphAttention& layer, const Tensor& nodes) {
    const auto named = layer->named_parameters();
    const auto find = [&](const char* name) { return named.contains(name) ? named[name] : Tensor(); };
    return {nodes, find("values"), find("receiver"), find("self"), find("neighbor"), find("to_scores")};
  }
  Leaves in_double() const {
    const auto twin = [](const Tensor& x) { return x.defined() ? x.detach().to(at::kDouble).requires_grad_() : x; };
    return {twin(nodes), twin(values), twin(receiver), twin(self), twin(neighbor), twin(to_scores)};
  }
};

Tensor plain_layer(const Rows& rows, const Leaves& p, const Tensor& from, const Tensor& to) {
  const auto project = [&](const Tensor& w) { return at::linear(p.nodes, w.flatten(0, 1)).view({-1, kHeads, kOut}); };
  const auto values = project(p.values);    // [N, H, D]
  const auto sent = rows.of(values, from);  // [E, H, D]
  Tensor scores;
  if (p.to_scores.defined()) {
    scores = (at::leaky_relu(rows.of(project(p.receiver), to) + sent, 0.2) * p.to_scores).sum(-1);
  } else {
    const auto self = (values * p.self).sum(-1), neighbor = (values * p.neighbor).sum(-1);
    scores = at::leaky_relu(rows.of(self, to) + rows.of(neighbor, from), 0.2);  // [E, H]
  }
  const auto min = at::full({kNodes, kHeads}, -INFINITY, scores.options());
  const auto top = min.scatter_reduce(0, wide(to, scores), scores.detach(), "amax");
  const auto terms = at::exp(scores - rows.of(top, to));
  const auto weights = terms / rows.of(rows.sum(terms, to), to);
  return rows.sum(weights.unsqueeze(-1) * sent, to).flatten(1);
}

// ---- one case ------------------------------------------------------------------------------------------------------

struct Setup {
  GatVersion version;
  Tensor edges = at::randint(kNodes, {2, kEdges});
  Graph graph{edges, kNodes};
  GraphAttention layer{GraphAttentionOptions{
      .in_dim = kIn, .out_dim = kOut, .num_heads = kHeads, .version = version, .self_loops = false, .bias = false}};
  Leaves leaves = Leaves::of(layer, at::randn({kNodes, kIn}).requires_grad_());
  Tensor upstream = at::randn({kNodes, kHeads* kOut});

  explicit Setup(GatVersion which) : version(which) {}

  std::vector<Tensor> with_gradients(const Tensor& context, const Leaves& p) const {
    auto found = torch::autograd::grad({context}, p.all(), {upstream.to(context.scalar_type())});
    found.push_back(context.detach());
    return found;
  }
  std::vector<Tensor> ours() { return with_gradients(layer->forward(leaves.nodes, graph).context, leaves); }
  std::vector<Tensor> plain(const Rows& rows, const Leaves& p) const {
    return with_gradients(plain_layer(rows, p, edges[0], edges[1]), p);
  }
};

/// Bytes that the passes over the edges touch: features of senders, numbers per edge, and each node once.
double bytes_touched(GatVersion version) {
  constexpr double kRow = 4.0 * kHeads * kOut, kHead = 4.0 * kHeads, kIndex = 4;
  const bool v2 = version == GatVersion::v2;
  const double forward = kIndex + kRow + kHead + (v2 ? 0 : kHead);         // values (v2: also scores); weights; t
  const double receivers = kIndex + kRow + 2 * kHead + (v2 ? 0 : kHead);   // values; weights, gradients; t
  const double senders = 2 * kIndex + kRow + 2 * kHead + (v2 ? kRow : 0);  // gradients of the context; v2: l
  const double nodes =
      (v2 ? 9 : 5) * kRow;  // context, its gradient, gradients of values (v2: l twice, r, their gradients)
  return kEdges * (forward + receivers + senders) + kNodes * nodes;
}

/// Reads `bytes` bytes on all threads, from a buffer larger than the cache.
void stream(HugeBuffer& buffer, double bytes) {
  const auto floats = static_cast<size_t>(bytes / 4 / kThreads) / 64 * 64;
  at::parallel_for(0, kThreads, 1, [&](int64_t, int64_t) {
    const size_t share = buffer.size() / kThreads / 64 * 64;
    const float* own = buffer.data() + static_cast<size_t>(at::get_thread_num()) * share;
    for (size_t done = 0; done < floats; done += share) read_all(own, std::min(share, floats - done));
  });
}

Race run_race(GatVersion version, bool full) {
  Setup setup(version);
  const std::string name = version == GatVersion::v1 ? "gat" : "gatv2";
  Race race(name, name + ": a layer " + std::to_string(kIn) + " -> " + std::to_string(kHeads) + " x " +
                      std::to_string(kOut) + ", " + std::to_string(kNodes) + " nodes, " + std::to_string(kEdges) +
                      " random edges, forward + backward, float, " + std::to_string(kThreads) + " threads");
  race.running_on = kernels::cpu::instruction_set();
  if (version == GatVersion::v2)
    race.note =
        "errors are those of float: where l + r rounds to the other side of 0, LeakyReLU has another derivative";
  const auto exact = setup.plain(kRows[0], setup.leaves.in_double());
  std::vector<Tensor> found;
  const auto error = [&] { return error_of(found, exact); };
  race.add(
      "heed", [&] { found = setup.ours(); }, error);
  for (const auto& rows : kRows)
    race.add(
        rows.name, [&] { found = setup.plain(rows, setup.leaves); }, error);
  HugeBuffer buffer(size_t{64} << 20);
  race.add("bytes, streamed", [&] { stream(buffer, bytes_touched(version)); });
  race.run({.rounds = full ? 21 : 7, .slow_rounds = full ? 21 : 7});
  std::string faster = kRows[0].name;
  for (const auto& rows : kRows)
    if (race.at(rows.name).min() < race.at(faster).min()) faster = rows.name;
  for (const auto& rows : kRows)
    race.add(Figure{"heed, times " + rows.name, 1, {rows.name}, {"heed"}, "x", rows.name == faster ? kBar : kAbsent});
  race.add(Figure{"heed / bytes, streamed", 1, {"heed"}, {"bytes, streamed"}, "of the time"});
  for (auto& baseline : race.baselines) baseline.run = {}, baseline.error = {};
  race.print();
  return race;
}

// ---- memory --------------------------------------------------------------------------------------------------------

/// Runs in a child process: prints the MiB that forward and backward need in addition to context and gradients.
void measure_memory(const std::string& who, const std::string& version) {
  Setup setup(version == "gat" ? GatVersion::v1 : GatVersion::v2);
  std::cout << memory_of([&] { return who == "heed" ? setup.ours() : setup.plain(kRows[0], setup.leaves); }) << '\n';
}

std::vector<MemoryRow> memory() {
  std::vector<MemoryRow> rows;
  std::printf("\nMemory, forward + backward, in addition to inputs, context and gradients\n");
  for (const std::string version : {"gat", "gatv2"})
    for (const std::string who : {"heed", "plain"}) {
      const double mib = std::stod(output_of("--memory " + who + " " + version));
      std::printf("  %-6s %-24s %9.1f MiB\n", version.c_str(), who == "heed" ? "heed" : kRows[0].name.c_str(), mib);
      rows.push_back({version + ", " + who, "default", "", kEdges, mib, kAbsent});
    }
  return rows;
}

/// Pins every thread of torch to a processor of its own.
void pin_threads(const std::vector<int>& cores) {
  use_threads(kThreads);
  at::parallel_for(0, kThreads, 1,
                   [&](int64_t, int64_t) { pin(cores[static_cast<size_t>(at::get_thread_num()) % cores.size()]); });
}

int main_of(const std::vector<std::string>& arguments) {
  torch::manual_seed(1);
  const auto cores = one_of_each_core();
  check(!cores.empty(), "bench: cannot read the CPU affinity");
  pin_threads(cores);
  if (arguments.size() == 3 && arguments[0] == "--memory") {
    measure_memory(arguments[1], arguments[2]);
    return 0;
  }
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_graph.json";
  bool full = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full or --json <file>");
  }
  const auto machine = Machine::measure(cores);
  machine.print();
  if (static_cast<int>(cores.size()) < kThreads)
    std::printf("warning: %d threads share %d core\n", kThreads, static_cast<int>(cores.size()));
  std::vector<Race> races;
  for (const auto version : {GatVersion::v1, GatVersion::v2}) races.push_back(run_race(version, full));
  write_json(json, machine, races, memory(), {});
  std::printf("\nThe report is in %s\n", json.c_str());
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_graph: " << error.what() << '\n';
    return 1;
  }
}
