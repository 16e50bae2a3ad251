#include "heed/models/components.h"

#include <algorithm>

#include "heed/base/excerpt.h"
#include "heed/data/recipe.h"

namespace heed {

std::shared_ptr<AttentionModel> attention_model(const Settings& settings, const std::string& defaults) {
  auto kinds = AttentionModel::Parts::names();
  const std::string given = settings.shorthand("mechanism");
  const auto named = std::find(kinds.begin(), kinds.end(), given);
  const bool is_name = named != kinds.end();
  if (!given.empty() && !is_name && given.find('+') == std::string::npos)
    fail("recipe: model.attention is '", excerpt(given), "'", suggestion(given, kinds),
         "; expected a mechanism such as 'additive + softmax', or one of ", joined(kinds));
  const bool in_recipe = settings.origin("mechanism") != kCommandLine;
  for (const char* part :
       {"score", "align", "dimensionality"})  // on the command line a part overrides the mechanism of the recipe
    if (const auto origin = settings.origin(part);
        !given.empty() && !origin.empty() && !(in_recipe && origin == kCommandLine))
      settings.refuse(part, "is given together with the mechanism '", excerpt(given), "', expected one of the two");
  const auto first = is_name ? named : std::find(kinds.begin(), kinds.end(), "mechanism");
  std::rotate(kinds.begin(), first, first + 1);  // the default comes first
  const std::string spec = given.empty() || is_name ? defaults : given;
  return AttentionModel::Parts::make(settings.choice("kind", kinds), settings, spec);
}

}  // namespace heed
