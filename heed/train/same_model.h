// Whether a resumed run has the model that its folder describes.

#pragma once

#include <string>

#include "heed/base/settings.h"

namespace heed {

/// Throws Error unless the keys below `model`, with their defaults, are those in the folder's config.json, in any
/// order.
void check_same_model(const std::string& folder, const Settings& model);

}  // namespace heed
