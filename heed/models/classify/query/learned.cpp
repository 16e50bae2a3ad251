// One learned vector is the query of every text.

#include <cmath>

#include "heed/models/classify/pool_query.h"

namespace heed {
namespace {

class LearnedQuery final : public PoolQuery {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit LearnedQuery(const Settings&) {}
  void build(int64_t width) override {
    query_ = register_parameter("query", at::randn({width}) / std::sqrt(static_cast<double>(width)));
  }
  Tensor query(const Features& features, const Tensor&) override {
    return query_.view({1, 1, -1}).expand({features.batch(), 1, query_.size(0)});
  }

 private:
  Tensor query_;
};

const ComponentEntry<PoolQuery, LearnedQuery> learned_query_entry{
    "learned",
    {.formula = "q is learned",
     .paper = "Yang et al., 2016",
     .choose = "the default: the same question to every text",
     .order = 1}};

}  // namespace
}  // namespace heed
