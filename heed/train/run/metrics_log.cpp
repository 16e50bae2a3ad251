#include "heed/train/run/metrics_log.h"

#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {

void MetricsLog::write(const nlohmann::ordered_json& metrics) {
  using Json = nlohmann::ordered_json;
  check(metrics.is_object(), "train/metrics: got ", metrics.type_name(), R"(, expected an object such as {"step": 1})");
  file_.append(metrics.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace heed
