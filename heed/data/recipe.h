// Recipes: settings in YAML, changed by `key.path=value` on the command line.
//
//   train:
//     lr: 1e-3                        heed train toy.yaml train.lr=5e-4 data.train=[a.en,a.de]
//
// Anchors, aliases and merge keys (<<: *other) are understood. JSON is YAML, so config.json reads as well.

#pragma once

#include <string>
#include <vector>

#include "heed/base/settings.h"

namespace heed {

/// The origin of a value that an override gave.
inline constexpr const char* kCommandLine = "command line";

/// The settings of a file. Values of overrides are YAML too, but plain words are taken whole, with whitespace and #;
/// null takes back what the recipe says. An override without a value is an error: it is an unset variable of a shell
/// more often than a wish.
Settings read_recipe(const std::string& path, const std::vector<std::string>& overrides = {});

/// The settings of a text; errors call it `name` and give the line.
Settings parse_recipe(const std::string& yaml, const std::string& name, const std::vector<std::string>& overrides = {});

/// YAML that reads back equal.
std::string recipe_yaml(const Settings& settings);

}  // namespace heed
