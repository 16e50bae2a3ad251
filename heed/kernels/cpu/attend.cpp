#include "heed/kernels/cpu/attend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/nearest.h"
#include "heed/kernels/cpu/engine/kernels.h"
#include "heed/kernels/cpu/gradient_index.h"
#include "heed/kernels/cpu/tiles/panels.h"

namespace heed::kernels::cpu {
namespace {

// ---- choice of the instruction set

std::vector<const Kernels<float>*> available() {
  std::vector<const Kernels<float>*> all{&portable_kernels()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) all.push_back(&avx2_kernels());
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.push_back(&avx512_kernels());
#endif
  return all;
}

const Kernels<float>& named(const std::string& name, const char* who) {
  for (const auto* kernels : available())
    if (name == kernels->name) return *kernels;
  fail(who, ": got instruction set '", name, "', expected one that this machine has: ", joined(instruction_sets()));
}

std::atomic<const Kernels<float>*>& chosen() {
  static std::atomic<const Kernels<float>*> kernels = [] {
    const char* wanted = std::getenv("HEED_ISA");
    return wanted != nullptr && *wanted != '\0' ? &named(wanted, "HEED_ISA") : available().back();
  }();
  return kernels;
}

template <typename Real>
const Kernels<Real>& kernels_for() {
  if constexpr (sizeof(Real) == 4)
    return *chosen().load();
  else
    return double_kernels();
}

// ---- padding

int64_t padded(int64_t n) {
  return (n + kPad - 1) / kPad * kPad;
}

/// The problem with values and context padded by zeros: the engine requires widths that are multiples of 16.
template <typename Real>
class PaddedProblem {
 public:
  explicit PaddedProblem(const Problem<Real>& given) : given_(given), p(given) {
    const int64_t width = padded(given.value_width);
    if (width == given.value_width) return;
    values_.resize(static_cast<size_t>(given.batch * given.key_heads * given.keys * width));
    for (int64_t b = 0, row = 0; b < given.batch; ++b)
      for (int64_t h = 0; h < given.key_heads; ++h)
        for (int64_t j = 0; j < given.keys; ++j, ++row)
          copy(given.values.at(b, h, j), given.value_width, values_.data() + row * width);
    p.values = {values_.data(), given.key_heads * given.keys * width, given.keys * width, width};
    p.value_width = width;
    p.context = fresh(context_, rows() * width);
    if (given.second != nullptr) p.second = fresh(second_, rows() * width);
  }

  int64_t rows() const { return given_.batch * given_.heads * given_.queries; }

  /// give() copies the padded context to the caller's; take() copies the caller's context, from forward(), to ours.
  void give() {
    if (p.value_width == given_.value_width) return;
    narrow(context_, p.value_width, given_.value_width, given_.context);
    if (given_.second != nullptr) narrow(second_, p.value_width, given_.value_width, given_.second);
  }
  void take() {
    if (p.value_width == given_.value_width) return;
    widen(given_.context, rows(), given_.value_width, p.value_width, context_);
    if (given_.second != nullptr) widen(given_.second, rows(), given_.value_width, p.value_width, second_);
  }

  static void copy(const Real* from, int64_t n, Real* to) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Real));
  }
  static Real* fresh(std::vector<Real>& buffer, int64_t n) {
    buffer.assign(static_cast<size_t>(n), Real(0));
    return buffer.data();
  }
  static void widen(const Real* from, int64_t rows, int64_t narrow_width, int64_t wide, std::vector<Real>& to) {
    fresh(to, rows * wide);
    for (int64_t i = 0; i < rows; ++i) copy(from + i * narrow_width, narrow_width, to.data() + i * wide);
  }
  static void narrow(const std::vector<Real>& from, int64_t wide, int64_t narrow_width, Real* to) {
    const auto rows = static_cast<int64_t>(from.size()) / wide;
    for (int64_t i = 0; i < rows; ++i) copy(from.data() + i * wide, narrow_width, to + i * narrow_width);
  }

 private:
  const Problem<Real>& given_;
  std::vector<Real> values_, context_, second_;

 public:
  Problem<Real> p;
};

// ---- checks

template <typename Real>
void check_problem(const Problem<Real>& p) {
  const ScoreTraits score = traits(p.score);
  const AlignTraits align = traits(p.align);
  const auto present = [](const void* data, const char* what) {
    check(data != nullptr, "kernels/cpu: got a null ", what, ", expected a pointer");
  };
  check(p.batch > 0 && p.heads > 0 && p.queries > 0 && p.keys > 0 && p.value_width > 0 && p.width > 0,
        "kernels/cpu: got batch ", p.batch, ", heads ", p.heads, ", queries ", p.queries, ", keys ", p.keys, ", width ",
        p.width, ", value_width ", p.value_width, ", expected at least 1 of each");
  check(p.key_heads > 0 && p.heads % p.key_heads == 0, "kernels/cpu: got ", p.key_heads,
        " key heads, expected a divisor of the ", p.heads, " heads");
  check(p.keys <= INT32_MAX, "kernels/cpu: got ", p.keys, " keys, expected less than 2^31");
  if (align.reads_scores) present(p.query.data, "query");
  present(p.values.data, "values");
  present(p.context, "context");
  present(p.rows, "rows");
  if (align.reads_scores && score.reads_keys) present(p.key_rows.data, "key_rows");
  if (align.reads_scores && score.reads_to_scores) present(p.to_scores, "to_scores");
  if (p.gauss != Gauss::none) present(p.position, "position");
  for (int64_t h = 0; align.reads_alpha && h < (p.alphas == nullptr ? 1 : p.heads); ++h) {
    const Real alpha = p.alphas == nullptr ? p.alpha : p.alphas[h * p.alphas_head];
    check(alpha > 1 && alpha <= 2, "kernels/cpu: got alpha ", alpha, ", expected a number in (1, 2]");
  }
  check(!align.reads_k || p.k >= 1, "kernels/cpu: got k ", p.k, ", expected at least 1");
  check(p.candidates >= 1, "kernels/cpu: got candidates ", p.candidates, ", expected at least 1");
  check(p.gauss == Gauss::none || p.sigma > 0, "kernels/cpu: got sigma ", p.sigma, ", expected a number above 0");
  check(p.temperature > 0, "kernels/cpu: got temperature ", p.temperature, ", expected a number above 0");
  check(p.dropout >= 0 && p.dropout < 1, "kernels/cpu: got dropout ", p.dropout, ", expected a number in [0, 1)");
}

}  // namespace

template <typename Real>
void forward(const Problem<Real>& problem, const ParallelFor& parallel_for) {
  check_problem(problem);
  PaddedProblem<Real> padded(problem);
  kernels_for<Real>().forward(padded.p, parallel_for);
  padded.give();
}

template <typename Real>
void report(const Problem<Real>& problem, const RequestedOutputs<Real>& wanted, const ParallelFor& parallel_for) {
  check_problem(problem);
  kernels_for<Real>().report(problem, wanted, parallel_for);
}

template <typename Real>
void backward(const Problem<Real>& problem, const Gradients<Real>& gradients, const ParallelFor& parallel_for) {
  check_problem(problem);
  using Floats = std::vector<Real>;
  check(!traits(problem.align).needs_second || problem.second != nullptr,
        "kernels/cpu: got a null `second`, expected that of forward(); the gradients of this alignment need it");
  check(problem.with_lse || !traits(problem.align).scores_need_log_probability || gradients.link_log_weights == nullptr,
        "kernels/cpu: got gradients of log-weights without with_lse, expected forward() to have computed their "
        "normalizer");
  const GradientIndex<Real> index(problem, gradients);
  PaddedProblem<Real> wide(problem);
  wide.take();
  Gradients<Real> g = gradients;
  Floats context, query, keys, values, to_scores;
  const int64_t width = padded(problem.width), value_width = wide.p.value_width;
  const int64_t rows = wide.rows(), key_rows = problem.batch * problem.key_heads * problem.keys;
  if (g.context == nullptr)
    g.context = PaddedProblem<Real>::fresh(context, rows * value_width);
  else if (value_width != problem.value_width) {
    PaddedProblem<Real>::widen(gradients.context, rows, problem.value_width, value_width, context);
    g.context = context.data();
  }
  const auto own = [](Floats& buffer, int64_t n, bool needed, Real* given) {
    return needed ? PaddedProblem<Real>::fresh(buffer, n) : given;
  };
  const bool wider = width != problem.width;
  g.query = own(query, rows * width, wider || g.query == nullptr, g.query);
  const bool keyed = traits(problem.align).reads_scores && traits(problem.score).reads_keys;
  g.keys = own(keys, key_rows * width, keyed && (wider || g.keys == nullptr), g.keys);
  g.values = own(values, key_rows * value_width, value_width != problem.value_width || g.values == nullptr, g.values);
  g.to_scores = own(to_scores, problem.heads * width, wider || g.to_scores == nullptr, g.to_scores);
  kernels_for<Real>().backward(wide.p, g, index.indexed(), parallel_for);
  const auto back = [](const Floats& from, int64_t wide_width, int64_t narrow_width, Real* to) {
    if (!from.empty() && to != nullptr) PaddedProblem<Real>::narrow(from, wide_width, narrow_width, to);
  };
  back(query, width, problem.width, gradients.query);
  back(keys, width, problem.width, gradients.keys);
  if (!keyed && gradients.keys != nullptr) std::fill_n(gradients.keys, key_rows * problem.width, Real(0));
  back(values, value_width, problem.value_width, gradients.values);
  back(to_scores, width, problem.width, gradients.to_scores);
}

template void forward(const Problem<float>&, const ParallelFor&);
template void forward(const Problem<double>&, const ParallelFor&);
template void report(const Problem<float>&, const RequestedOutputs<float>&, const ParallelFor&);
template void report(const Problem<double>&, const RequestedOutputs<double>&, const ParallelFor&);
template void backward(const Problem<float>&, const Gradients<float>&, const ParallelFor&);
template void backward(const Problem<double>&, const Gradients<double>&, const ParallelFor&);

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const auto* kernels : available()) names.emplace_back(kernels->name);
  return names;
}

std::string instruction_set() {
  return chosen().load()->name;
}

void use_instruction_set(const std::string& name) {
  chosen() = &named(name, "use_instruction_set");
}

}  // namespace heed::kernels::cpu
