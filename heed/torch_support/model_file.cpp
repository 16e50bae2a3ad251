#include "heed/torch_support/model_file.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>
#include <torch/nn/module.h>

#include "heed/base/check.h"
#include "heed/data/saved_model.h"
#include "heed/version.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr const char *kConfig = "/config.json", *kModel = "/model.safetensors";

}  // namespace

void save_model(const torch::nn::Module& module, const std::string& folder, const std::string& config_md5,
                Metadata metadata) {
  metadata["format"] = std::to_string(kRunFormat);
  metadata["heed"] = std::string(kVersion);
  metadata["config"] = config_md5;
  save_checked(folder + kModel, module_state(module), metadata);
}

void load_model(torch::nn::Module& module, const std::string& folder) {
  const std::string path = folder + kModel;
  const Safetensors saved = load_safetensors(path);
  const Metadata& metadata = saved.metadata;
  Json content = Json::object();
  if (metadata.count("heed") > 0) content["heed"] = metadata.at("heed");
  if (metadata.count("format") > 0) content["format"] = Json::parse(metadata.at("format"), nullptr, false);
  check_run_format(path, content);
  verify_checksum(saved, path);
  check(metadata.count("config") > 0, path, ": got no hash of config.json, expected one in its metadata", kDamaged);
  if (metadata.at("config") != "none") expect_hash(folder + kConfig, metadata.at("config"), path);
  for (const auto& [name, tensor] : saved.tensors)
    check(!tensor.is_floating_point() || tensor.isfinite().all().item<bool>(), path, ": tensor '", name,
          "' holds NaN or infinite values, expected finite ones; train again with a lower train.lr");
  load_parameters(module, saved.tensors, path);
}

}  // namespace heed
