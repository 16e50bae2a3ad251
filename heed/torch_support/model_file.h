// model.safetensors of a run: the weights of a model, tied to its config.json (heed/data/saved_model.h).

#pragma once

#include <string>

#include "heed/torch_support/safetensors.h"

namespace heed {

/// Writes model.safetensors, tied to the config.json with that md5.
void save_model(const torch::nn::Module& module, const std::string& folder, const std::string& config_md5,
                Metadata metadata = {});
/// Refuses a file that is damaged, not finite, of another format, or saved with another config.json.
void load_model(torch::nn::Module& module, const std::string& folder);

}  // namespace heed
