// The limits of the machine, measured in the same run: multiply-adds, clock, bytes read and copied. And a thread pool
// for the rows on two threads.

#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench/race.h"

#include "heed/base/parallel.h"

namespace heed::bench {

// ---- multiply-adds -------------------------------------------------------------------------------------------------

// Independent chains, as many as registers allow and more than latency x throughput; asm keeps each in its register.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) inline void fma_avx512(int64_t rounds) {
  __m512 x[24];
#pragma GCC unroll 24
  for (int i = 0; i < 24; ++i) x[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999F), b = _mm512_set1_ps(0.001F);
  for (int64_t n = 0; n < rounds; ++n)
#pragma GCC unroll 24
    for (int i = 0; i < 24; ++i) {
      x[i] = _mm512_fmadd_ps(x[i], a, b);
      asm volatile("" : "+v"(x[i]));
    }
}

__attribute__((target("avx2,fma"))) inline void fma_avx2(int64_t rounds) {  // 12 chains of 16 registers
  __m256 x[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) x[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(0.001F);
  for (int64_t n = 0; n < rounds; ++n)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      x[i] = _mm256_fmadd_ps(x[i], a, b);
      asm volatile("" : "+x"(x[i]));
    }
}
#endif

inline void fma_portable(int64_t rounds) {  // four lanes, with the multiply-add that the compiler chooses
  using Four = float __attribute__((vector_size(16)));
  Four x[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) x[i] = Four{1, 2, 3, 4} * static_cast<float>(i);
  for (int64_t n = 0; n < rounds; ++n)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) x[i] = x[i] * 0.999F + 0.001F;
  asm volatile("" : : "r"(x) : "memory");
}

/// Multiply-adds of one instruction set, named as in kernels/cpu.
struct Fma {
  std::string set;
  double flops = 0;  // of one round
  void (*loop)(int64_t rounds) = nullptr;

  explicit Fma(const std::string& name) : set(name), flops(2.0 * 12 * 4), loop(fma_portable) {
#if defined(__x86_64__)
    if (name == "avx2") flops = 2.0 * 12 * 8, loop = fma_avx2;
    if (name == "avx512") flops = 2.0 * 24 * 16, loop = fma_avx512;
#endif
  }
  /// Number of rounds that take about `time` seconds.
  int64_t rounds_for(double time) const {
    int64_t rounds = 1 << 16;
    loop(rounds);
    double best = 1;
    for (int i = 0; i < 5; ++i) best = std::min(best, seconds([&] { loop(rounds); }));
    return static_cast<int64_t>(time / best * static_cast<double>(rounds)) + 1;
  }
  double peak() const {  // FLOP/s
    const int64_t rounds = rounds_for(0.005);
    double best = 1;
    for (int i = 0; i < 15; ++i) best = std::min(best, seconds([&] { loop(rounds); }));
    return static_cast<double>(rounds) * flops / best;
  }
};

/// Cycles per second, from a chain of dependent additions: each takes one cycle.
inline double clock_rate() {
  constexpr int kRounds = 1 << 16, kEach = 64;
  double best = 1;
  for (int i = 0; i < 15; ++i)
    best = std::min(best, seconds([] {
                      uint64_t x = 1, y = 3;
                      asm volatile("" : "+r"(y));
                      for (int n = 0; n < kRounds; ++n)
#pragma GCC unroll 64
                        for (int k = 0; k < kEach; ++k) {
                          x += y;
                          asm volatile("" : "+r"(x));
                        }
                    }));
  return static_cast<double>(kRounds) * kEach / best;
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

/// Memory on huge pages if the system provides them: streaming over small pages is slower.
class HugeBuffer {
 public:
  explicit HugeBuffer(size_t floats) : size_(floats) {
    const size_t bytes = (floats * sizeof(float) + kPage - 1) / kPage * kPage;
    data_ = static_cast<float*>(std::aligned_alloc(kPage, bytes));
    check(data_ != nullptr, "bench: cannot allocate ", bytes, " bytes");
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 0, bytes);
  }
  ~HugeBuffer() { std::free(data_); }
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;
  float* data() { return data_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kPage = 2 << 20;
  float* data_ = nullptr;
  size_t size_;
};

/// MiB of this process on huge pages, or 0 if the system does not report it.
inline double on_huge_pages() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("AnonHugePages:", 0) == 0) return std::stod(line.substr(14)) / 1024;
  return 0;
}

// n is a multiple of 64. Loads and stores have 32 bytes; two of them saturate the ports of any core.
#if defined(__x86_64__)
__attribute__((target("avx2"))) inline void read_avx2(const float* from, size_t n) {
  __m256i x[8] = {};
  for (size_t i = 0; i < n; i += 64)
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k) {
      x[k] = _mm256_xor_si256(x[k], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 8 * k)));
      asm volatile("" : "+x"(x[k]));
    }
}

__attribute__((target("avx2"))) inline void copy_avx2(const float* from, size_t n, float* to) {
  for (size_t i = 0; i < n; i += 64)
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + 8 * k),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 8 * k)));
  asm volatile("" : : : "memory");
}
#endif

inline bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

inline void read_all(const float* from, size_t n) {
#if defined(__x86_64__)
  if (has_avx2()) return read_avx2(from, n);
#endif
  using Four = float __attribute__((vector_size(16), aligned(4)));
  Four x[4] = {};
  for (size_t i = 0; i < n; i += 16)
    for (size_t k = 0; k < 4; ++k) x[k] += *reinterpret_cast<const Four*>(from + i + 4 * k);
  asm volatile("" : : "r"(x) : "memory");
}

inline void copy_all(const float* from, size_t n, float* to) {
#if defined(__x86_64__)
  if (has_avx2()) return copy_avx2(from, n, to);
#endif
  std::memcpy(to, from, n * sizeof(float));
}

// ---- processors and threads ----------------------------------------------------------------------------------------

/// Processors that this process may use, one per core (two of one core would share its FMA units), the last first: the
/// first ones serve interrupts.
inline std::vector<int> one_of_each_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {};
  std::vector<int> found;
  std::vector<std::string> seen;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
    if (std::find(seen.begin(), seen.end(), siblings) != seen.end()) continue;
    seen.push_back(siblings);
    found.push_back(cpu);
  }
  return found;
}

/// Pins the calling thread to a processor; returns whether it succeeded.
inline bool pin(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

/// A thread pool: the caller and one more thread on each of the given processors. Threads spin for a while before they
/// sleep, since waking up takes longer than many tasks.
class Pool {
 public:
  explicit Pool(const std::vector<int>& others) {
    for (const int cpu : others)
      threads_.emplace_back([this, cpu] {
        pin(cpu);
        serve();
      });
  }
  ~Pool() {
    stop_ = true;
    wake();
    for (auto& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void operator()(int64_t tasks, const std::function<void(int64_t)>& body) {
    tasks_ = tasks, body_ = &body;
    next_ = 0, finished_ = 0;
    wake();
    take();
    while (finished_.load() < static_cast<int>(threads_.size())) relax();
  }
  ParallelFor parallel_for() {
    return [this](int64_t tasks, const std::function<void(int64_t)>& body) { (*this)(tasks, body); };
  }

 private:
  static constexpr int kLooks = 20000;

  static void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  void wake() {
    ++round_;
    round_.notify_all();
  }
  void take() {
    for (int64_t i = next_++; i < tasks_; i = next_++) (*body_)(i);
  }
  void serve() {
    for (uint64_t seen = 0;; ++seen) {
      for (int i = 0; i < kLooks && round_.load() == seen; ++i) relax();
      round_.wait(seen);
      if (stop_) return;
      take();
      ++finished_;
    }
  }

  std::atomic<uint64_t> round_{0};
  std::atomic<int64_t> next_{0};
  std::atomic<int> finished_{0};
  std::atomic<bool> stop_{false};
  int64_t tasks_ = 0;
  const std::function<void(int64_t)>* body_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace heed::bench
