#include "heed/torch_support/noise_scope.h"

#include <atomic>
#include <mutex>

#include <ATen/Context.h>

#include "heed/base/check.h"
#include "heed/torch_support/send.h"

namespace heed {
namespace {

thread_local NoiseScope* innermost = nullptr;
thread_local int held_generators = 0;
std::atomic<uint64_t> plain_seed_count{0};

/// The cell of seeds of this process: backward asks from other threads.
struct SeedCell {
  std::mutex mutex;
  at::Tensor cell;
  uint64_t seed = 0;
};

SeedCell& seed_cell() {
  static SeedCell all;
  return all;
}

/// The finalizer of SplitMix64 (Steele et al., 2014): decorrelates neighboring seeds.
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace

NoiseScope::NoiseScope(uint64_t seed, uint64_t step, int64_t first_row)
    : seed_(mixed(mixed(seed) + step)), first_row_(first_row), outer_(innermost) {
  check(first_row >= 0, "noise_scope: first_row is ", first_row, ", expected at least 0");
  if (seed_ == 0) seed_ = 1;  // 0 means a seed from torch's generator
  innermost = this;
}

NoiseScope::~NoiseScope() {
  innermost = outer_;
}

NoiseScope* NoiseScope::current() {
  return innermost;
}

std::unique_ptr<NoiseScope> NoiseScope::branch() {
  if (innermost == nullptr) return nullptr;
  return std::make_unique<NoiseScope>(innermost->seed_, innermost->next_use(), innermost->first_row_);
}

void NoiseScope::seed_generator(at::Device device) {
  if (generator_is_set_ || held_generators > 0) return;
  auto generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(mixed(seed_ + static_cast<uint64_t>(first_row_)));
  generator_is_set_ = true;
}

void NoiseScope::fill(const at::Tensor& cell) const {
  const auto number = to_send({1}, at::kLong, cell.device());
  number.data_ptr<int64_t>()[0] = static_cast<int64_t>(seed_);
  cell.copy_(number, /*non_blocking=*/true);
  SeedCell& all = seed_cell();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.cell = cell;
  all.seed = seed_;
}

void NoiseScope::drop_cell() {
  SeedCell& all = seed_cell();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.cell.reset();
  all.seed = 0;
}

const uint64_t* NoiseScope::address_of(uint64_t seed) {
  SeedCell& all = seed_cell();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.cell.defined() && all.seed == seed) return reinterpret_cast<const uint64_t*>(all.cell.data_ptr<int64_t>());
  note_plain_seed();
  return nullptr;
}

void NoiseScope::note_plain_seed() {
  ++plain_seed_count;
}

uint64_t NoiseScope::plain_seeds() {
  return plain_seed_count;
}

HeldGenerators::HeldGenerators() {
  ++held_generators;
}

HeldGenerators::~HeldGenerators() {
  --held_generators;
}

}  // namespace heed
