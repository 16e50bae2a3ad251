// Times of the CUDA kernels without torch: medians of events, with the error of the context against double. One line of
// JSON for each case.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "heed/kernels/cuda/attend.h"

namespace {

using namespace heed::kernels;

struct Bench {
  const char* name;
  ScoreKind score;
  int64_t batch, heads, queries, keys, width, value_width;
};

float* on_device(int64_t count, std::vector<float>* copy, double sigma, uint64_t seed) {
  std::vector<float> x(static_cast<size_t>(count));
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(sigma));
  for (float& value : x) value = normal(generator);
  float* memory = nullptr;
  cudaMalloc(&memory, x.size() * sizeof(float));
  cudaMemcpy(memory, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  if (copy != nullptr) *copy = std::move(x);
  return memory;
}

template <class Run>
std::pair<double, double> milliseconds(const Run& run) {
  constexpr int kRounds = 15;
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) run();
  for (int i = 0; i < kRounds; ++i) {
    float time = 0;
    cudaEventRecord(from);
    run();
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&time, from, to);
    times.push_back(static_cast<double>(time));
  }
  std::sort(times.begin(), times.end());
  return {times[kRounds / 2], times.back() - times.front()};
}

void run(const Bench& c) {
  std::vector<float> q, k, v, w;
  Problem<float> p;
  p.batch = c.batch, p.heads = p.key_heads = c.heads, p.queries = c.queries, p.keys = c.keys;
  p.width = c.width, p.value_width = c.value_width, p.score = c.score;
  const int64_t bh = c.batch * c.heads;
  const auto rows = [&](int64_t length, int64_t width, std::vector<float>* copy, double sigma, uint64_t seed) {
    return Rows<const float>{on_device(bh * length * width, copy, sigma, seed), c.heads * length * width,
                             length * width, width};
  };
  p.query = rows(c.queries, c.width, &q, 1, 1);
  p.key_rows = rows(c.keys, c.width, &k, 1, 2);
  p.values = rows(c.keys, c.value_width, &v, 1, 3);
  if (c.score == ScoreKind::additive) p.to_scores = on_device(c.width, &w, 1, 4);
  p.scale = c.score == ScoreKind::dot ? 1 / std::sqrt(static_cast<float>(c.width)) : 1.0F;
  cudaMalloc(&p.context, static_cast<size_t>(bh * c.queries * c.value_width) * sizeof(float));
  cudaMalloc(&p.rows, static_cast<size_t>(bh * c.queries) * sizeof(RowStats<float>));
  Gradients<float> g;
  g.context = on_device(bh * c.queries * c.value_width, nullptr, 1, 5);
  cudaMalloc(&g.query, static_cast<size_t>(bh * c.queries * c.width) * sizeof(float));
  cudaMalloc(&g.keys, static_cast<size_t>(bh * c.keys * c.width) * sizeof(float));
  cudaMalloc(&g.values, static_cast<size_t>(bh * c.keys * c.value_width) * sizeof(float));
  if (c.score == ScoreKind::additive) cudaMalloc(&g.to_scores, static_cast<size_t>(c.heads * c.width) * sizeof(float));
  const size_t bytes = cuda::forward_bytes(p), back = cuda::backward_bytes(p, g);
  void* workspace = nullptr;
  cudaMalloc(&workspace, std::max<size_t>({bytes, back, 256}));
  const auto forward = milliseconds([&] { cuda::forward(p, workspace, nullptr); });
  const auto both = milliseconds([&] {
    cuda::forward(p, workspace, nullptr);
    cuda::backward(p, g, workspace, nullptr);
  });
  // Error of some rows of the last batch element and head.
  std::vector<float> context(static_cast<size_t>(bh * c.queries * c.value_width));
  cudaMemcpy(context.data(), p.context, context.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double off = 0, size = 0;
  for (int64_t n = 0; n < std::min<int64_t>(c.queries, 8); ++n) {
    const int64_t i = n * c.queries / std::min<int64_t>(c.queries, 8), row = (bh - 1) * c.queries + i;
    std::vector<double> e(static_cast<size_t>(c.keys)), sum(static_cast<size_t>(c.value_width));
    double max = -INFINITY, total = 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      double s = 0;
      for (int64_t f = 0; f < c.width; ++f) {
        const double a = static_cast<double>(q[static_cast<size_t>(row * c.width + f)]);
        const double b = static_cast<double>(k[static_cast<size_t>(((bh - 1) * c.keys + j) * c.width + f)]);
        s += c.score == ScoreKind::dot ? a * b : static_cast<double>(w[static_cast<size_t>(f)]) * std::tanh(a + b);
      }
      e[static_cast<size_t>(j)] = s * static_cast<double>(p.scale);
      max = std::max(max, e[static_cast<size_t>(j)]);
    }
    for (double& x : e) total += x = std::exp(x - max);
    for (int64_t j = 0; j < c.keys; ++j)
      for (int64_t d = 0; d < c.value_width; ++d)
        sum[static_cast<size_t>(d)] +=
            e[static_cast<size_t>(j)] / total *
            static_cast<double>(v[static_cast<size_t>(((bh - 1) * c.keys + j) * c.value_width + d)]);
    for (int64_t d = 0; d < c.value_width; ++d) {
      const double found = static_cast<double>(context[static_cast<size_t>(row * c.value_width + d)]);
      off += (found - sum[static_cast<size_t>(d)]) * (found - sum[static_cast<size_t>(d)]);
      size += sum[static_cast<size_t>(d)] * sum[static_cast<size_t>(d)];
    }
  }
  const double pairs = static_cast<double>(bh * c.queries * c.keys * c.width);
  std::printf(
      "{\"case\": \"%s\", \"kernel\": \"%s\", \"forward_ms\": %.4f, \"forward_spread\": %.4f, "
      "\"forward_backward_ms\": %.4f, \"spread\": %.4f, \"pair_features_per_second\": %.3e, \"error\": %.2e, "
      "\"forward_MiB\": %.1f, \"backward_MiB\": %.1f, \"status\": \"%s\"}\n",
      c.name, cuda::kernel_name(p), forward.first, forward.second, both.first, both.second, pairs / forward.first * 1e3,
      std::sqrt(off / size), static_cast<double>(bytes) / (1 << 20), static_cast<double>(back) / (1 << 20),
      cudaGetErrorString(cudaGetLastError()));
  std::fflush(stdout);
  for (const void* x :
       {static_cast<const void*>(p.query.data), static_cast<const void*>(p.key_rows.data),
        static_cast<const void*>(p.values.data), static_cast<const void*>(p.to_scores),
        static_cast<const void*>(p.context), static_cast<const void*>(p.rows), static_cast<const void*>(g.context),
        static_cast<const void*>(g.query), static_cast<const void*>(g.keys), static_cast<const void*>(g.values),
        static_cast<const void*>(g.to_scores), static_cast<const void*>(workspace)})
    cudaFree(const_cast<void*>(x));
}

}  // namespace

int main(int count, char** words) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "cuda bench: got no GPU, expected one\n");
    return 1;
  }
  for (const Bench& c :
       {Bench{"additive 1x1 4096x4096 Dh128 Dv128", ScoreKind::additive, 1, 1, 4096, 4096, 128, 128},
        Bench{"additive 8x1 1024x1024 Dh128 Dv128", ScoreKind::additive, 8, 1, 1024, 1024, 128, 128},
        Bench{"additive 1x1 16384x16384 Dh128 Dv128", ScoreKind::additive, 1, 1, 16384, 16384, 128, 128},
        Bench{"additive step 256x1 1x20 Dh256 Dv512", ScoreKind::additive, 256, 1, 1, 20, 256, 512},
        Bench{"additive 64x1 20x20 Dh256 Dv512", ScoreKind::additive, 64, 1, 20, 20, 256, 512},
        Bench{"dot 1x8 4096x4096 D64", ScoreKind::dot, 1, 8, 4096, 4096, 64, 64},
        Bench{"dot 256x4 24x24 D64", ScoreKind::dot, 256, 4, 24, 24, 64, 64},
        Bench{"dot 64x4 96x96 D64", ScoreKind::dot, 64, 4, 96, 96, 64, 64},
        Bench{"dot step 320x4 1x30 D64", ScoreKind::dot, 320, 4, 1, 30, 64, 64}})
    if (count < 2 || std::string(c.name).find(words[1]) != std::string::npos) run(c);
}
