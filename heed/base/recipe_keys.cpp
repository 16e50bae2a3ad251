#include "heed/base/recipe_keys.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/range.h"
#include "heed/base/scalar.h"

namespace heed {
namespace {

struct WholeBounds {
  int64_t min, max;
};

WholeBounds whole_bounds(const KeyLimits& limits) {
  return {std::isfinite(limits.min) ? static_cast<int64_t>(limits.min) : Settings::kMin,
          std::isfinite(limits.max) ? static_cast<int64_t>(limits.max) : Settings::kMax};
}

/// The choices with the default first, as Settings::choice takes them.
std::vector<std::string> with_first(std::vector<std::string> choices, const std::string& first) {
  const auto found = std::find(choices.begin(), choices.end(), first);
  if (found != choices.end()) std::rotate(choices.begin(), found, found + 1);
  return choices;
}

std::string shown_default(const KeyLimits& limits, const std::string& value) {
  return limits.default_text.empty() ? value : limits.default_text;
}

std::vector<RecipeSection>& entered_sections() {
  static std::vector<RecipeSection> all;  // a function-local static: initialized before the first entry
  return all;
}

}  // namespace

RecipeKeyList all_keys(std::initializer_list<RecipeKeyList> lists) {
  RecipeKeyList all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, int64_t& value) {
  const WholeBounds bounds = whole_bounds(limits);
  value = settings.integer(name, value, bounds.min, bounds.max);
}

void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, double& value) {
  value = settings.number(name, value, limits.min, limits.max);
}

void read_key(const Settings& settings, const std::string& name, const KeyLimits&, bool& value) {
  value = settings.flag(name, value);
}

void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, std::string& value) {
  value =
      limits.choices.empty() ? settings.text(name, value) : settings.choice(name, with_first(limits.choices, value));
}

void read_key(const Settings& settings, const std::string& name, const KeyLimits&, std::vector<std::string>& value) {
  value = settings.texts(name, value);
}

RecipeKey listed_key(const std::string& name, const KeyLimits& limits, int64_t default_value) {
  const WholeBounds bounds = whole_bounds(limits);
  const bool any = bounds.min == Settings::kMin && bounds.max == Settings::kMax;
  return {name, "whole number", shown_default(limits, std::to_string(default_value)),
          any ? "" : written_range(name, bounds.min, bounds.max), ""};
}

RecipeKey listed_key(const std::string& name, const KeyLimits& limits, double default_value) {
  const bool any = !std::isfinite(limits.min) && !std::isfinite(limits.max);
  return {name, "number", shown_default(limits, written_number(default_value)),
          any ? "" : written_range(name, limits.min, limits.max), ""};
}

RecipeKey listed_key(const std::string& name, const KeyLimits& limits, bool default_value) {
  return {name, "true | false", shown_default(limits, default_value ? "true" : "false"), "", ""};
}

RecipeKey listed_key(const std::string& name, const KeyLimits& limits, const std::string& default_value) {
  const std::string kind = limits.choices.empty() ? "text" : joined(with_first(limits.choices, default_value), " | ");
  return {name, kind, shown_default(limits, default_value), "", ""};
}

RecipeKey listed_key(const std::string& name, const KeyLimits& limits, const std::vector<std::string>& default_value) {
  return {name, "text or list of texts", shown_default(limits, joined(default_value)), "", ""};
}

RecipeSection::Entry::Entry(const RecipeSection& section) {
  auto& all = entered_sections();
  // The same section, in a program that links a static library of ours next to the shared one that contains it.
  const bool again = std::any_of(all.begin(), all.end(), [&](const RecipeSection& other) {
    return other.path == section.path && other.order == section.order;
  });
  if (!again) all.push_back(section);
}

std::vector<RecipeSection::Listed> RecipeSection::all() {
  auto entered = entered_sections();
  std::sort(entered.begin(), entered.end(),
            [](const RecipeSection& a, const RecipeSection& b) { return a.order < b.order; });
  std::vector<Listed> listed;
  for (const auto& section : entered) {
    auto same = std::find_if(listed.begin(), listed.end(),
                             [&](const Listed& one) { return one.path == section.path && one.task == section.task; });
    if (same == listed.end()) same = listed.insert(listed.end(), {section.path, section.task, section.sentence, {}});
    same->keys = all_keys({same->keys, section.keys()});
  }
  return listed;
}

}  // namespace heed
