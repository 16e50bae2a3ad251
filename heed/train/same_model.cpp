#include "heed/train/same_model.h"

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/saved_model.h"
#include "heed/data/setting_json.h"

namespace heed {

void check_same_model(const std::string& folder, const Settings& model) {
  const auto config = read_config(folder);
  check(config.contains("model") && config["model"] == nlohmann::json(setting_json(model.resolved().written())),
        "recipe: the keys below model differ from ", "those in ", folder,
        "/config.json; go on with the recipe of the run, or start over with --force");
}

}  // namespace heed
