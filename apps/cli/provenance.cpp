#include "apps/cli/provenance.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <sys/utsname.h>

#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/machine.h"
#include "heed/base/shell.h"
#include "heed/base/thread_count.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

constexpr size_t kShownHash = 8;  // digits, for people

/// The arguments of this process, quoted for a shell.
std::string own_command() {
  std::vector<std::string> words;
  for (const auto& word : own_arguments()) words.push_back(quoted_for_shell(word));
  return joined(words, " ");
}

std::string own_machine() {
  const int processors = threads_from_affinity();
  utsname system{};
  const bool known = ::uname(&system) == 0;
  return cpu_model() + ", " + std::to_string(processors) + (processors == 1 ? " processor" : " processors") +
         (known ? std::string(", ") + static_cast<const char*>(system.sysname) + " " +
                      static_cast<const char*>(system.release)
                : "");
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 40> text{};
  ::gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

/// One value alone, several as a list.
nlohmann::ordered_json one_or_all(const std::set<std::string>& values) {
  return values.size() == 1 ? nlohmann::ordered_json(*values.begin()) : nlohmann::ordered_json(values);
}

}  // namespace

void Provenance::add_run(const nlohmann::ordered_json& results) {
  if (!results.is_object()) return;
  if (results.contains("seed") && results["seed"].is_number_integer()) seeds.insert(results["seed"].get<int64_t>());
  if (results.contains("commit") && results["commit"].is_string()) commits.insert(results["commit"].get<std::string>());
  if (!results.contains("data") || !results["data"].is_object()) return;
  for (const auto& [name, hash] : results["data"].items())
    if (hash.is_string() && !hash.get<std::string>().empty()) data[name].insert(hash.get<std::string>());
}

void Provenance::add_runs(const Provenance& other) {
  seeds.insert(other.seeds.begin(), other.seeds.end());
  commits.insert(other.commits.begin(), other.commits.end());
  for (const auto& [name, hashes] : other.data) data[name].insert(hashes.begin(), hashes.end());
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

Provenance provenance() {
  return {.command = own_command(),
          .version = std::string(kVersion),
          .commit = std::string(commit()),
          .machine = own_machine(),
          .date = now_in_utc()};
}

nlohmann::ordered_json as_json(const Provenance& p) {
  nlohmann::ordered_json all{{"command", p.command},
                             {"heed", p.version},
                             {"commit", p.commit},
                             {"machine", p.machine},
                             {"date", p.date},
                             {"seeds", p.seeds},
                             {"data", nlohmann::ordered_json::object()}};
  for (const auto& [name, hashes] : p.data) all["data"][name] = one_or_all(hashes);
  if (!p.commits.empty()) all["commit_of_runs"] = one_or_all(p.commits);
  return all;
}

std::vector<std::pair<std::string, std::string>> facts(const Provenance& p) {
  std::vector<std::pair<std::string, std::string>> all{{"command", p.command},
                                                       {"heed", p.version + " (commit " + p.commit + ")"},
                                                       {"machine", p.machine},
                                                       {"date", p.date}};
  const std::vector<std::string> commits(p.commits.begin(), p.commits.end());
  if (commits.size() > 1 || (commits.size() == 1 && commits.front() != p.commit))
    all.emplace_back("runs by", "commit " + joined(commits));
  std::vector<std::string> seeds, data;
  for (const int64_t seed : p.seeds) seeds.push_back(std::to_string(seed));
  if (!seeds.empty()) all.emplace_back(seeds.size() == 1 ? "seed" : "seeds", joined(seeds));
  for (const auto& [name, hashes] : p.data) {
    std::vector<std::string> shown;
    for (const auto& hash : hashes) shown.push_back(hash.substr(0, kShownHash));
    data.push_back(name + " " + joined(shown, " and "));
  }
  if (!data.empty()) all.emplace_back("data (md5)", joined(data));
  return all;
}

void print(std::ostream& out, const Provenance& provenance) {
  int width = 0;
  const auto all = facts(provenance);
  for (const auto& [name, value] : all) width = std::max(width, display_width(name));
  for (const auto& [name, value] : all) out << padded(name, width + 2) << printable(value) << '\n';
}

}  // namespace heed::cli
