#include "heed/models/components.h"

#include <algorithm>

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/score.h"
#include "heed/base/excerpt.h"
#include "heed/data/recipe.h"

namespace heed {
namespace {

/// A shorthand: it is expanded to the keys of the mechanism's parts.
const RecipeKey kMechanismKey{"mechanism", "text", "that of the query model's paper", "",
                              "spec of the mechanism; `model.attention: additive + softmax` is short for it"};

}  // namespace

void AttentionModel::check_fits(int64_t query_dim, int64_t source_dim) const {
  const Mechanism mechanism = Mechanism::parse(spec_.mechanism);
  if (!spec_.structure.empty() || spec_.heads > 1) return;
  Sizes sizes{query_dim, source_dim, source_dim, spec_.hidden == 0 ? source_dim : spec_.hidden};
  sizes.dimensionality = mechanism.dimensionality();
  mechanism.score().parameters(sizes);
  mechanism.align().parameters(sizes);
}

void AttentionModel::build(int64_t query_dim, int64_t source_dim) {
  SourceAttention::build({.query_dim = query_dim,
                          .source_dim = source_dim,
                          .mechanism = spec_.mechanism,
                          .structure = spec_.structure,
                          .hidden_dim = spec_.hidden,
                          .num_heads = std::max<int64_t>(1, spec_.heads),
                          .dropout = spec_.dropout});
}

Attention AttentionModel::build_layer(const TransformerOptions& options) {
  const std::string name = "layer" + std::to_string(children().size());
  return register_module(name, transformer_attention(options, options.source_dim, spec_.mechanism, {}));
}

std::map<std::string, QueryDefaults>& query_defaults() {
  static std::map<std::string, QueryDefaults> all;  // initialized before the first entry
  return all;
}

RecipeKeyList attention_model_keys() {
  return all_keys(
      {{kMechanismKey},
       kind_keys<AttentionModel>("mechanism", "the attention model; `model.attention: fixed` is short for it")});
}

std::shared_ptr<AttentionModel> attention_model(const Settings& settings, const std::string& defaults) {
  const auto kinds = AttentionModel::Parts::names();
  const std::string given = settings.shorthand(kMechanismKey.name);
  const bool is_name = std::find(kinds.begin(), kinds.end(), given) != kinds.end();
  if (!given.empty() && !is_name && given.find('+') == std::string::npos)
    fail("recipe: model.attention is '", excerpt(given), "'", suggestion(given, kinds),
         "; expected a mechanism such as 'additive + softmax', or one of ", joined(kinds));
  const bool in_recipe = settings.origin(kMechanismKey.name) != kCommandLine;
  for (const char* part :
       {"score", "align", "dimensionality"})  // on the command line a part overrides the mechanism of the recipe
    if (const auto origin = settings.origin(part);
        !given.empty() && !origin.empty() && !(in_recipe && origin == kCommandLine))
      settings.refuse(part, "is given together with the mechanism '", excerpt(given), "', expected one of the two");
  const std::string spec = given.empty() || is_name ? defaults : given;
  return component<AttentionModel>(settings, is_name ? given : "mechanism", spec);
}

}  // namespace heed
