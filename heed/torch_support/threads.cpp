#include "heed/torch_support/threads.h"

#include <algorithm>
#include <dlfcn.h>
#include <omp.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "heed/base/check.h"
#include "heed/base/path.h"

namespace heed {
namespace {

/// A function of the BLAS that the program is linked with, or null.
template <typename Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The file that a function was loaded from, with symbolic links resolved, or "".
std::string file_of(void* function) {
  Dl_info info;
  if (!function || dladdr(function, &info) == 0 || !info.dli_fname) return "";
  return without_links(info.dli_fname);
}

/// The name of a result of openblas_get_parallel().
std::string openblas_threads(int parallel) {
  return parallel == 0 ? "none" : parallel == 1 ? "pthread" : parallel == 2 ? "openmp" : "unknown";
}

/// Number of threads of a parallel region that requests `asked`.
int threads_given(int asked) {
  int given = 1;
#pragma omp parallel num_threads(asked)
  {
#pragma omp single
    given = omp_get_num_threads();
  }
  return given;
}

}  // namespace

int use_threads(int threads) {
  check(threads >= 1 && threads <= kMaxThreads, "threads: got ", threads, ", expected 1 to ", kMaxThreads);
  omp_set_dynamic(0);
  const int given = std::min(threads, threads_given(threads));
  at::set_num_threads(given);
  if (auto* set = loaded<void(int)>("openblas_set_num_threads")) set(given);
  return given;
}

// OpenBLAS may be loaded for LAPACK alone, so the file that contains sgemm_ decides.
Blas blas_in_use() {
  const std::string file = file_of(dlsym(RTLD_DEFAULT, "sgemm_"));
  auto* config = loaded<char*()>("openblas_get_config");
  if (config && file.find("openblas") != std::string::npos) {
    auto* parallel = loaded<int()>("openblas_get_parallel");
    return {config(), parallel ? openblas_threads(parallel()) : "unknown"};
  }
  if (at::hasMKL()) return {"MKL", "openmp"};
  return {file.empty() ? "unknown" : file, "unknown"};
}

std::string Blas::warning() const {
  if (threads == "openmp") return "";
  const std::string cure =
      "install libopenblas0-openmp and build with -DHEED_OPENMP_BLAS=ON, or select it with update-alternatives";
  if (threads == "pthread") return "BLAS has its own threads, which compete with torch's for the same cores; " + cure;
  if (threads == "none") return "BLAS runs on one thread; " + cure;
  return "BLAS is not known to share torch's OpenMP threads and may be slow; " + cure;
}

}  // namespace heed
