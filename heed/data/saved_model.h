// The files that make up a saved model, tied together by hashes, so that a damaged file or one of another run is
// refused by its name (heed/bridge/model_file.h reads and writes the weights):
//
//   config.json         format, heed (version), task, model, tokenizers: {source: md5, target: md5} or {joint: md5}
//   tokenizer*.json
//   model.safetensors   metadata: format, heed, config (md5 of config.json), checksum

#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed {

/// Of config.json, model.safetensors and checkpoint.safetensors. A change that older versions would misread raises it.
inline constexpr int kRunFormat = 3;

/// Refuses the content of another format than kRunFormat; no "format" in it means 1. `path` is its file in messages.
void check_run_format(const std::string& path, const nlohmann::json& content);

/// md5 of the bytes of a file; "none" where there is no such file.
std::string file_md5(const std::string& path);

/// Adds format, version and the hashes of the tokenizers in the folder, which are written before.
void write_config(const std::string& folder, nlohmann::ordered_json config);
/// config.json of a folder; refuses damaged JSON and another format.
nlohmann::json read_config(const std::string& folder);
/// The tokenizer files of a folder: source and target, or one for both. Refuses a file that config.json does not list.
std::vector<std::string> checked_tokenizers(const std::string& folder);

/// Ends a message about a file whose content is wrong.
inline constexpr const char* kDamaged = "; the file is damaged or was edited, restore it or train again";
/// Refuses a file that is missing or has another md5 than the one noted in the file `from`.
void expect_hash(const std::string& path, const std::string& expected, const std::string& from);

}  // namespace heed
