#include "heed/data/setting_json.h"

#include <nlohmann/json.hpp>

namespace heed {

nlohmann::ordered_json setting_json(const Setting& setting) {
  using Json = nlohmann::ordered_json;
  Json out;
  switch (setting.form) {
    case Setting::Form::map:
      out = Json::object();
      for (size_t i = 0; i < setting.names.size(); ++i) out[setting.names[i]] = setting_json(setting.items[i]);
      break;
    case Setting::Form::list:
      out = Json::array();
      for (const auto& item : setting.items) out.push_back(setting_json(item));
      break;
    case Setting::Form::scalar:
      if (!setting.quoted) out = Json::parse(setting.text, nullptr, /*allow_exceptions=*/false);
      if (setting.quoted || out.is_discarded()) out = setting.text;
      break;
    case Setting::Form::absent:
      break;
  }
  return out;
}

}  // namespace heed
