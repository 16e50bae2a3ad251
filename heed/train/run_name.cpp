#include "heed/train/run_name.h"

#include <algorithm>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/data/recipe.h"

namespace heed {
namespace {

constexpr size_t kMaxChanges = 64, kHash = 8;  // bytes

struct Change {
  std::string key, value;
};

/// A value on one line, including lists.
std::string flat_value(const Setting& value) {
  if (value.form == Setting::Form::scalar) return value.text;
  if (value.form == Setting::Form::absent) return "null";
  std::vector<std::string> items;
  for (size_t i = 0; i < value.items.size(); ++i)
    items.push_back((i < value.names.size() ? value.names[i] + ":" : "") + flat_value(value.items[i]));
  return joined(items, ",");
}

bool says_only_where(const std::string& key) {
  return key == "name" || key == "data.root" || key == "train.device" || key.rfind("run.", 0) == 0;
}

void collect_changes(const Setting& setting, const std::string& path, std::vector<Change>& changes) {
  if (setting.form != Setting::Form::map) {
    if (setting.origin == kCommandLine && !says_only_where(path)) changes.push_back({path, flat_value(setting)});
    return;
  }
  for (size_t i = 0; i < setting.names.size(); ++i) {
    const std::string& name = setting.names[i];  // "": the short form of a map that also has keys
    collect_changes(setting.items[i], path.empty() || name.empty() ? path + name : path + "." + name, changes);
  }
}

std::string without_section(const std::string& key) {
  for (const std::string section : {"model.", "train."})
    if (key.rfind(section, 0) == 0) return key.substr(section.size());
  return key;
}

/// Keeps characters that are safe in shells and file systems; spaces are dropped.
std::string safe_text(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || std::string("._+-=").find(letter) != std::string::npos;
    if (plain)
      safe += letter;
    else if (letter != ' ' && !safe.empty() && safe.back() != '_')
      safe += '_';
  }
  return safe.substr(0, safe.find_last_not_of('_') + 1);
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

}  // namespace

std::string name_of_changes(const Settings& recipe) {
  if (recipe.origin("name") == kCommandLine) return "";
  std::vector<Change> changes;
  collect_changes(recipe.written(), "", changes);
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.key < b.key; });
  std::string whole, name;
  for (const auto& [key, value] : changes) {
    whole += key + "=" + value + "\n";
    name += (name.empty() ? "-" : ",") + without_section(key) + "=" + safe_text(value);
  }
  if (name.size() <= kMaxChanges && is_ascii(whole)) return name;
  return name.substr(0, kMaxChanges - kHash - 1) + "-" + md5_hex(whole).substr(0, kHash);
}

}  // namespace heed
