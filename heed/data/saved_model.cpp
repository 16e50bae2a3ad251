#include "heed/data/saved_model.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/data/file.h"
#include "heed/version.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr const char* kConfig = "/config.json";
constexpr std::array<std::pair<const char*, const char*>, 3> kTokenizers{
    {{"joint", "/tokenizer.json"}, {"source", "/tokenizer.source.json"}, {"target", "/tokenizer.target.json"}}};

/// At most 60 characters, escaped: the file may be damaged.
std::string brief(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

}  // namespace

void check_run_format(const std::string& path, const Json& content) {
  check(content.is_object(), path, ": got ", content.type_name(), ", expected a JSON object", kDamaged);
  const Json format = content.contains("format") ? content["format"] : Json(1);
  if (format == kRunFormat && format.is_number_integer()) return;
  const bool older = !content.contains("format") || format == 1;
  std::string writer = older ? "heed 0.1.0 up to commit 5d1fc64" : "another version of heed";
  if (!older && content.contains("heed") && content["heed"].is_string()) writer = "heed " + brief(content["heed"]);
  fail(path, ": got format ", brief(format), ", expected ", kRunFormat, " (heed ", kVersion, "); ", writer,
       " reads it, or train again");
}

std::string file_md5(const std::string& path) {
  return exists(path) ? md5_hex(read_file(path)) : "none";
}

void expect_hash(const std::string& path, const std::string& expected, const std::string& from) {
  const std::string hash = file_md5(path);
  check(hash != "none", path, ": there is no such file, expected the one that ", from, " belongs to");
  check(hash == expected, path, ": got md5 ", hash, ", expected ", brief(expected), " (noted in ", from,
        "); it is damaged or of another run, restore it or train again");
}

void write_config(const std::string& folder, nlohmann::ordered_json config) {
  nlohmann::ordered_json all{{"format", kRunFormat}, {"heed", std::string(kVersion)}};
  all.update(config);
  all["tokenizers"] = nlohmann::ordered_json::object();
  for (const auto& [side, file] : kTokenizers)
    if (exists(folder + file)) all["tokenizers"][side] = file_md5(folder + file);
  write_atomically(folder + kConfig, all.dump(2) + "\n");
}

Json read_config(const std::string& folder) {
  const std::string path = folder + kConfig;
  const Json config = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  check(!config.is_discarded(), path, ": got text that is not JSON, expected what heed train wrote", kDamaged);
  check_run_format(path, config);
  return config;
}

std::vector<std::string> checked_tokenizers(const std::string& folder) {
  const Json config = read_config(folder);
  const std::string path = folder + kConfig;
  const Json listed = config.value("tokenizers", Json());
  const bool joint = listed.is_object() && listed.size() == 1 && listed.contains("joint");
  const bool two = listed.is_object() && listed.size() == 2 && listed.contains("source") && listed.contains("target");
  check(joint || two, path, ": got ", brief(listed),
        " for tokenizers, expected the md5 of joint, or of source and target", kDamaged);
  std::vector<std::string> files;
  for (const auto& [side, file] : kTokenizers) {
    if (!listed.contains(side)) continue;
    check(listed[side].is_string(), path, ": got ", brief(listed[side]), " for tokenizers.", side, ", expected an md5",
          kDamaged);
    expect_hash(folder + file, listed[side].get<std::string>(), path);
    files.push_back(folder + file);
  }
  return files;
}

}  // namespace heed
