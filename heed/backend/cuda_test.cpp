// What a call on a GPU must not do: wait for the device. And what it must stand: being captured in a CUDA graph.

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "heed/attention/attention.h"
#include "heed/structures/testing.h"

namespace heed::testing {
namespace {

const at::TensorOptions kThere = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);

/// While it is in scope, an operation that waits for the device is an error.
class NoWaiting {
 public:
  NoWaiting() { c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR); }
  ~NoWaiting() { c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED); }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
};

/// What `body` waits for, or "".
template <class Body>
std::string waits(const Body& body) {
  const NoWaiting guard;
  try {
    body();
  } catch (const std::exception& error) {
    return std::string(error.what()).substr(0, 5000);
  }
  return "";
}

Tensor there(const Tensor& x) {
  if (!x.defined()) return x;
  const auto moved = x.detach().to(at::kCUDA, x.is_floating_point() ? at::kFloat : x.scalar_type());
  return x.requires_grad() ? moved.requires_grad_() : moved;
}

Case there(const Case& c) {
  Case moved = c;
  for (const auto& [name, tensor] : c.parameters) moved.parameters.set(name, there(tensor));
  for (Tensor* x : {&moved.query, &moved.keys, &moved.values, &moved.call.mask.keep, &moved.call.mask.key_count,
                    &moved.call.bias.full, &moved.call.bias.per_key, &moved.call.bias.relative, &moved.call.bias.alibi})
    *x = there(*x);
  return moved;
}

/// loss_of() makes its coefficients on the CPU; this one stays on the device.
Tensor loss_there(const std::vector<Tensor>& outputs) {
  Tensor loss;
  for (const auto& x : outputs) {
    if (!x.defined() || !x.is_floating_point()) continue;
    const auto part = x.masked_fill(x == -INFINITY, 0.0).square().sum();
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

void run_and_learn(const Case& c) {
  const auto a = c.run();
  gradients(loss_there({a.context, a.weights, a.lse, a.entropy, a.log_probability}), c.tensors());
}

#define NEEDS_A_GPU \
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU"

TEST(CudaCalls, APlantedReadIsCaught) {
  NEEDS_A_GPU;
  const auto x = at::ones({3}, kThere);
  EXPECT_NE(waits([&] { x.sum().item<float>(); }), "");
  EXPECT_NE(waits([&] { at::tensor({1.0F, 2.0F}).to(at::kCUDA); }), "");
  EXPECT_EQ(waits([&] { x + x; }), "");
}

TEST(CudaCalls, NoMechanismWaits) {
  NEEDS_A_GPU;
  for (const auto& spec : every_mechanism())
    for (const std::string mask : {"none", "key_count", "all"})
      for (const Path path : {Path::fastest, Path::composed}) {
        Case c = there(make_case(spec, mask));
        c.call.path = path;
        c.call.noise.dropout = 0.2;
        c.call.outputs = everything(c.mechanism);
        run_and_learn(c);  // loads modules, makes handles
        EXPECT_EQ(waits([&] { run_and_learn(c); }), "") << spec << ", mask " << mask << ", " << to_string(path);
      }
}

TEST(CudaCalls, NoKernelWaits) {
  NEEDS_A_GPU;
  for (const std::string spec : {"additive + softmax", "scaled_dot + softmax"})
    for (const auto& mask : kMasks) {
      Case c = there(make_case(spec, mask, {}, /*biased=*/false));
      c.call.path = Path::fastest;
      c.call.block_bytes = Call().block_bytes;  // gradients of weights are composed; several blocks would sort links
      c.call.noise.dropout = 0.2;
      c.call.outputs.lse = true;
      run_and_learn(c);
      EXPECT_EQ(waits([&] { run_and_learn(c); }), "") << spec << ", mask " << mask;
      c.call.outputs.weights = true;
      c.call.outputs.rows = {2, 1};
      c.call.outputs.heads = {1};
      c.call.outputs.links = at::zeros({2, 4}, kThere.dtype(at::kLong));
      run_and_learn(c);
      EXPECT_EQ(waits([&] { run_and_learn(c); }), "") << spec << ", mask " << mask << ", with weights and links";
    }
}

/// A module on the GPU.
Attention module_there(const std::string& spec, int64_t heads) {
  Attention module(AttentionOptions{.query_dim = 8,
                                    .key_dim = 8,
                                    .value_dim = 8,
                                    .hidden_dim = 8,
                                    .num_heads = heads,
                                    .mechanism = Mechanism::parse(spec),
                                    .dropout = 0.1});
  module->to(at::kCUDA);
  return module;
}

TEST(CudaCalls, NoModuleWaits) {
  NEEDS_A_GPU;
  const auto x = at::randn({2, 6, 8}, kThere).requires_grad_(), query = at::randn({2, 1, 8}, kThere);
  const Mask mask{.key_count = at::full({2}, 4, kThere.dtype(at::kLong))};
  for (const int64_t heads : {1, 2})
    for (const std::string spec : {"additive + softmax", "scaled_dot + softmax", "general + sparsemax"}) {
      auto module = module_there(spec, heads);
      const auto all = [&] {
        Call call;
        call.mask = mask;
        const auto direct = module->forward(x, x, x, call).context;
        const auto memory = module->append(module->prepare(x, x, mask), query, query);
        const auto stepped = module->forward(query, memory).context;
        auto leaves = module->parameters();
        leaves.push_back(x);
        gradients(loss_there({direct, stepped}), leaves);
      };
      all();
      EXPECT_EQ(waits(all), "") << spec << ", heads " << heads;
    }
  const auto y = at::randn({2, 2, 6, 8}, kThere);
  EXPECT_EQ(waits([&] { heed::scaled_dot_product_attention(y, y, y, {}, 0.1, /*is_causal=*/true); }), "");
}

/// Structures that read values on purpose: edges are sorted on the CPU, a memory network reads whether it is linear,
/// and recurrent layers pack their sequences by length.
bool reads_values(const std::string& spec) {
  for (const char* name : {"graph", "gat", "memory_network", "lstm", "gru", "recurrent", "luong", "bahdanau", "bidaf",
                           "dcn", "rotatory", "hierarchical", "encoder"})
    if (spec.find(name) != std::string::npos && spec.find("transformer") == std::string::npos) return true;
  return false;
}

TEST(CudaCalls, NoStructureWaits) {
  NEEDS_A_GPU;
  size_t tried = 0;
  for (const auto& spec : every_structure()) {
    if (reads_values(spec)) continue;
    SCOPED_TRACE(spec);
    StructureCase c = make_structure_case(spec, "");
    c.structure->train();
    c.structure->to(at::kCUDA, at::kFloat);
    for (auto& f : c.given.features) f = {there(f.rows), there(f.keep)};
    c.given.query = there(c.given.query);
    const auto all = [&] { gradients(loss_there({c.run().context}), c.tensors()); };
    all();
    EXPECT_EQ(waits(all), "");
    ++tried;
  }
  EXPECT_GT(tried, 10U);
}

// ---- graphs

struct Captured {
  Tensor context;
  std::vector<Tensor> grads;
};

Captured run_captured(const Case& c) {
  const auto a = c.run();
  return {a.context, gradients(loss_there({a.context, a.lse}), {c.query, c.keys, c.values})};
}

TEST(CudaCalls, ReplayFromAGraph) {
  NEEDS_A_GPU;
  for (const std::string spec : {"additive + softmax", "scaled_dot + softmax", "general + sparsemax"})
    for (const std::string mask : {"none", "key_count", "bottom_right"}) {
      SCOPED_TRACE(spec + ", mask " + mask);
      Case c = there(make_case(spec, mask, {}, /*biased=*/false));
      c.call.path = Path::fastest;
      c.call.block_bytes = Call().block_bytes;  // gradients of weights are composed; several blocks would sort links
      c.call.noise.sample = false;
      c.call.outputs.lse = c.mechanism.align().offers().lse;
      const auto side = c10::cuda::getStreamFromPool();
      at::cuda::CUDAGraph graph;
      Captured replayed;
      {
        const c10::cuda::CUDAStreamGuard guard(side);
        for (int i = 0; i < 3; ++i) run_captured(c);
        side.synchronize();
        graph.capture_begin();
        replayed = run_captured(c);
        graph.capture_end();
      }
      {
        const at::NoGradGuard no_grad;
        for (Tensor* x : {&c.query, &c.keys, &c.values}) x->copy_(at::randn_like(*x));
      }
      side.synchronize();
      c10::cuda::device_synchronize();
      graph.replay();
      c10::cuda::device_synchronize();
      const Captured expected = run_captured(c);
      EXPECT_TRUE(close(replayed.context, expected.context, 1e-6));
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(close(replayed.grads[i], expected.grads[i], 1e-5)) << i;
    }
}

// ---- how much a call launches

/// Operations of the device in one run of `body`: the nodes of its graph.
size_t launches(const std::function<void()>& body) {
  const auto side = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph(/*keep_graph=*/true);
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    for (int i = 0; i < 3; ++i) body();
    side.synchronize();
    graph.capture_begin();
    body();
    graph.capture_end();
  }
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph.raw_cuda_graph(), nullptr, &count), cudaSuccess);
  return count;
}

TEST(CudaCalls, LaunchLittleMoreThanTheKernel) {
  NEEDS_A_GPU;
  const auto names = Catalogue<backend::Backend>::names();
  if (std::find(names.begin(), names.end(), "cuda") == names.end()) GTEST_SKIP() << "a build without HEED_CUDA";
  struct Row {
    const char *spec, *mask;
    size_t max;
  };
  // The kernels themselves are one or two; key_count is clamped; an additive score has two projections.
  for (const Row& row : {Row{"scaled_dot + softmax", "none", 2}, Row{"scaled_dot + softmax", "key_count", 3},
                         Row{"scaled_dot + softmax", "bottom_right", 2}, Row{"additive + softmax", "none", 8},
                         Row{"additive + softmax", "key_count", 9}}) {
    const at::NoGradGuard no_grad;
    Case c = there(make_case(row.spec, row.mask, {}, /*biased=*/false));
    c.call.path = Path::fused;
    const size_t count = launches([&] { c.run(); });
    std::printf("%s, mask %s: %zu operations of the device\n", row.spec, row.mask, count);
    EXPECT_LE(count, row.max) << row.spec << ", mask " << row.mask;
  }
}

}  // namespace
}  // namespace heed::testing
