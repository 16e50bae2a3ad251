// Recipes: settings in YAML, overridden by `key.path=value` on the command line.
//
//   train:
//     lr: 1e-3                        heed train toy.yaml train.lr=5e-4 data.train=[a.en,a.de]
//
// Anchors, aliases and merge keys (<<: *other) are supported. JSON is YAML, so config.json can be read too.

#pragma once

#include <string>
#include <vector>

#include "heed/base/settings.h"

namespace heed {

/// The origin of a value from an override.
inline constexpr const char* kCommandLine = "command line";

/// Reads the settings of a file. Override values are YAML too, but a plain scalar is taken verbatim, including
/// whitespace and #; null restores the default. An override without a value is an Error, because it is usually an unset
/// shell variable.
Settings read_recipe(const std::string& path, const std::vector<std::string>& overrides = {});

/// Parses the settings of a text; errors show `name` and the line.
Settings parse_recipe(const std::string& yaml, const std::string& name, const std::vector<std::string>& overrides = {});

/// The settings as YAML; parsing it gives equal settings.
std::string recipe_yaml(const Settings& settings);

}  // namespace heed
