// Settings as JSON: {"model": {"embedding": {"dim": 256, ...}}}.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/base/settings.h"

namespace heed {

nlohmann::ordered_json setting_json(const Setting& setting);

}  // namespace heed
