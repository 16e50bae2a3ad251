// The files of a saved model. They refer to each other by hashes, so that a damaged file or a file of another run is
// refused by name (heed/torch_support/model_file.h reads and writes the weights):
//
//   config.json         format, heed (version), task, model, tokenizers: {source: md5, target: md5} or {joint: md5}
//   tokenizer*.json
//   model.safetensors   metadata: format, heed, config (md5 of config.json), checksum

#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed {

/// Format number of config.json, model.safetensors and checkpoint.safetensors; increased by incompatible changes.
inline constexpr int kRunFormat = 3;

/// Throws an Error unless content["format"] is kRunFormat; a missing "format" means 1. `path`: the file in messages.
void check_run_format(const std::string& path, const nlohmann::json& content);

/// md5 of the bytes of a file; "none" if it does not exist.
std::string file_md5(const std::string& path);

/// Writes config.json, with format, version and the hashes of the tokenizer files, which must exist already.
void write_config(const std::string& folder, nlohmann::ordered_json config);
/// Reads config.json of a folder; damaged JSON or another format is an Error.
nlohmann::json read_config(const std::string& folder);
/// Paths of the tokenizer files: source and target, or one for both. An Error if they do not match config.json.
std::vector<std::string> checked_tokenizers(const std::string& folder);

/// End of a message about a file with invalid content.
inline constexpr const char* kDamaged = "; the file is damaged or was edited, restore it or train again";
/// Throws an Error if the file is missing or its md5 is not `expected`, which is recorded in the file `from`.
void expect_hash(const std::string& path, const std::string& expected, const std::string& from);

}  // namespace heed
