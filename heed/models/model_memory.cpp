#include "heed/models/model_memory.h"

#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"

namespace heed {
namespace {

struct Size {
  std::string path;
  int64_t value = -1;
};

void find_largest(const Setting& setting, const std::string& path, Size& largest) {
  int64_t value = 0;
  if (setting.form == Setting::Form::scalar && !setting.quoted && read_integer(setting.text, value) &&
      value > largest.value)
    largest = {path, value};
  for (size_t i = 0; setting.form == Setting::Form::map && i < setting.names.size(); ++i)
    find_largest(setting.items[i], path.empty() ? setting.names[i] : path + "." + setting.names[i], largest);
}

}  // namespace

void refuse_memory(const Settings& model, const std::string& kept_for, double needed, double free) {
  const std::string text = "so the model would take at least " + readable_bytes(needed) + " for " + kept_for +
                           ", but " + readable_bytes(free) + " are free; lower it";
  Size largest;
  find_largest(model.resolved().written(), "", largest);
  if (largest.value < 0) fail("recipe: model is too large, ", text);
  model.refuse(largest.path, "is ", largest.value, ", ", text);
}

}  // namespace heed
