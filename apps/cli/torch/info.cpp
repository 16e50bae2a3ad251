#include "apps/cli/torch/info.h"

#include <iostream>

#include "apps/cli/info_options.h"
#include "apps/cli/torch/body.h"
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/cuda.h>
#include <torch/version.h>

#include "heed/attention/align.h"
#include "heed/attention/score.h"
#include "heed/backend/cpu.h"
#include "heed/base/machine.h"
#include "heed/torch_support/threads.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

/// In the order of the output.
nlohmann::ordered_json facts() {
  const Blas blas = blas_in_use();
  return {{"version", kVersion},
          {"commit", commit()},
          {"compiler", compiler()},
          {"torch", TORCH_VERSION},
          {"threads", at::get_num_threads()},
          {"processors", threads_from_affinity()},
          {"blas", {{"name", blas.name}, {"threads", blas.threads}, {"warning", blas.warning()}}},
          {"cpu", {{"model", cpu_model()}, {"instruction_sets", instruction_sets()}}},
          {"kernels", {{"in_use", backend::cpu_instruction_set()}, {"available", backend::cpu_instruction_sets()}}},
          {"cuda_devices", torch::cuda::device_count()},
          {"scores", Catalogue<Score>::names().size()},
          {"alignments", Catalogue<Alignment>::names().size()}};
}

void print_words(std::ostream& out, const nlohmann::ordered_json& all) {
  const auto text = [](const nlohmann::ordered_json& value) { return value.get<std::string>(); };
  const auto sets = all["cpu"]["instruction_sets"].get<std::vector<std::string>>();
  const auto devices = all["cuda_devices"].get<size_t>();
  out << "heed       " << text(all["version"]) << " (commit " << text(all["commit"]) << ")\n"
      << "compiler   " << text(all["compiler"]) << '\n'
      << "torch      " << text(all["torch"]) << '\n'
      << "threads    " << all["threads"] << " (processors this program may use: " << all["processors"] << ")\n"
      << "BLAS       " << text(all["blas"]["name"]) << "; threads: " << text(all["blas"]["threads"]) << '\n'
      << "CPU        " << text(all["cpu"]["model"]) << "; "
      << (sets.empty() ? "no known instruction sets" : joined(sets, " ")) << '\n'
      << "kernels    " << text(all["kernels"]["in_use"])
      << " (HEED_ISA may name one of: " << joined(all["kernels"]["available"].get<std::vector<std::string>>()) << ")\n"
      << "CUDA       "
      << (devices == 0 ? "no device" : std::to_string(devices) + (devices == 1 ? " device" : " devices")) << '\n'
      << "parts      " << all["scores"] << " scores, " << all["alignments"] << " alignments\n";
  const auto warning = text(all["blas"]["warning"]);
  if (!warning.empty()) out << "warning    " << warning << '\n';
}

}  // namespace

void print_info(std::ostream& out, bool json) {
  const auto all = facts();
  if (json)
    out << all.dump(2) << '\n';
  else
    print_words(out, all);
}

namespace {

const Body info_body{"info", +[](const InfoArguments& a) { print_info(std::cout, a.json); }};

}  // namespace

}  // namespace heed::cli
