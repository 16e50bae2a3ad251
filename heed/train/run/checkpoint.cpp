#include "heed/train/run/checkpoint.h"

#include <cmath>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/data/saved_model.h"
#include "heed/version.h"

namespace heed {
namespace {

constexpr const char* kState = "state";
constexpr const char* kCure = "; the file is damaged, restore it from a copy or start over with --force";

std::string form_of(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

}  // namespace

StateFields::StateFields(std::string path, nlohmann::json content, std::string name)
    : path_(std::move(path)), name_(std::move(name)), content_(std::move(content)) {
  check(content_.is_object(), path_, ": got ", content_.type_name(), " for ", name_, ", expected an object", kCure);
}

const nlohmann::json& StateFields::at(const std::string& key) const {
  const auto found = content_.find(key);
  check(found != content_.end(), path_, ": got no ", name_, ".", key, ", expected what a checkpoint holds", kCure);
  return *found;
}

void StateFields::refuse(const std::string& key, const std::string& expected) const {
  const std::string got = at(key).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  fail(path_, ": got ", got.substr(0, 60), got.size() > 60 ? "..." : "", " for ", name_, ".", key, ", expected ",
       expected, kCure);
}

int64_t StateFields::integer(const std::string& key, int64_t min, int64_t max) const {
  const std::string range =
      "an integer from " + std::to_string(min) + (max == kMax ? " on" : " to " + std::to_string(max));
  const auto& value = at(key);
  const bool fits =
      value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMax));
  if (!fits || value.get<int64_t>() < min || value.get<int64_t>() > max) refuse(key, range);
  return value.get<int64_t>();
}

double StateFields::number(const std::string& key) const {
  const auto& value = at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, "a finite number");
  return value.get<double>();
}

bool StateFields::flag(const std::string& key) const {
  if (!at(key).is_boolean()) refuse(key, "true or false");
  return at(key).get<bool>();
}

std::string StateFields::text(const std::string& key) const {
  if (!at(key).is_string()) refuse(key, "a text");
  return at(key).get<std::string>();
}

StateFields StateFields::object(const std::string& key) const {
  return {path_, at(key), name_ + "." + key};
}

void save_checkpoint(const std::string& path, const NamedTensors& tensors, nlohmann::json state) {
  state["format"] = kRunFormat;
  state["heed"] = std::string(kVersion);
  save_checked(path, tensors, {{kState, state.dump()}});
}

Checkpoint load_checkpoint(const std::string& path) {
  Safetensors saved = load_safetensors(path);
  const auto found = saved.metadata.find(kState);
  check(found != saved.metadata.end(), path, ": got no state, expected a checkpoint of heed train", kCure);
  auto state = nlohmann::json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  check(!state.is_discarded(), path, ": got a state that is not JSON, expected a checkpoint of heed train", kCure);
  check_run_format(path, state);
  verify_checksum(saved, path);
  return {path, std::move(saved.tensors), StateFields(path, std::move(state))};
}

void check_tensor(const Checkpoint& checkpoint, const std::string& name, const at::Tensor& like) {
  const auto found = checkpoint.tensors.find(name);
  check(found != checkpoint.tensors.end(), checkpoint.path, ": got no tensor '", name, "', expected ", form_of(like),
        kCure);
  const at::Tensor& tensor = found->second;
  check(tensor.scalar_type() == like.scalar_type() && tensor.sizes() == like.sizes(), checkpoint.path, ": tensor '",
        name, "' is ", form_of(tensor), ", expected ", form_of(like), kCure);
  check(tensor.isfinite().all().item<bool>(), checkpoint.path, ": tensor '", name,
        "' holds NaN or infinite values, expected finite ones", kCure);
}

}  // namespace heed
