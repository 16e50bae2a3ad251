// The mean of the features is the query.

#include "heed/models/classify/pool_query.h"

namespace heed {
namespace {

class MeanQuery final : public PoolQuery {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit MeanQuery(const Settings&) {}
  Tensor query(const Features& features, const Tensor&) override { return mean(features); }
};

const ComponentEntry<PoolQuery, MeanQuery> mean_query_entry{"mean",
                                                            {.formula = "q = mean_j f_j",
                                                             .paper = "Ma et al., 2017",
                                                             .choose = "as summary, for features without one",
                                                             .order = 3}};

}  // namespace
}  // namespace heed
