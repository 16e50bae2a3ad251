#include "heed/train/last_weights.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/torch_support/safetensors.h"

namespace heed {
namespace {

constexpr const char *kLastPrefix = "last.", *kLastSuffix = ".safetensors", *kLastTensor = "values";
constexpr size_t kLastDigits = 18;  // at most; more would not fit int64_t

/// The step in the name of a file; -1 for other names.
int64_t step_of_file(const std::string& name) {
  const std::string start = kLastPrefix, end = kLastSuffix;
  if (name.size() <= start.size() + end.size() || name.rfind(start, 0) != 0 || !name.ends_with(end)) return -1;
  const std::string digits = name.substr(start.size(), name.size() - start.size() - end.size());
  if (digits.size() > kLastDigits || digits.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(digits);
}

}  // namespace

bool LastWeights::is_file(const std::string& name) {
  return step_of_file(name) >= 0;
}

std::string LastWeights::path(int64_t step) const {
  return folder_ + "/" + kLastPrefix + std::to_string(step) + kLastSuffix;
}

std::vector<int64_t> LastWeights::steps() const {
  std::vector<int64_t> all;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(folder_, failed)) {
    const int64_t step = step_of_file(file.path().filename().string());
    if (step >= 0) all.push_back(step);
  }
  std::sort(all.begin(), all.end());
  return all;
}

void LastWeights::add(int64_t step, const at::Tensor& values) const {
  if (count_ == 0) return;
  save_checked(path(step), {{kLastTensor, values}});
  const auto all = steps();
  for (size_t i = 0; i + static_cast<size_t>(count_) < all.size(); ++i) ::unlink(path(all[i]).c_str());
}

void LastWeights::forget_after(int64_t step) const {
  for (const int64_t each : steps())
    if (each > step) ::unlink(path(each).c_str());
}

at::Tensor LastWeights::mean(const at::Tensor& like) const {
  if (count_ == 0) return {};
  auto all = steps();
  if (all.empty()) return {};
  if (static_cast<int64_t>(all.size()) > count_) all.erase(all.begin(), all.end() - count_);
  auto sum = at::zeros_like(like, like.options().dtype(at::kDouble).device(at::kCPU));
  for (const int64_t step : all) {
    const auto loaded = load_safetensors(path(step));
    verify_checksum(loaded, path(step));
    const auto found = loaded.tensors.find(kLastTensor);
    check(found != loaded.tensors.end() && found->second.sizes() == like.sizes(), path(step),
          ": got other tensors than the weights of this model; remove the file, or start over with --force");
    sum.add_(found->second);
  }
  return sum.div_(static_cast<double>(all.size())).to(like.options());
}

}  // namespace heed
