// The summary of the feature model is the query: the text asks itself.

#include "heed/models/classify/pool_query.h"

namespace heed {
namespace {

class SummaryQuery final : public PoolQuery {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit SummaryQuery(const Settings&) {}
  Tensor query(const Features&, const Tensor& summary) override { return summary.unsqueeze(1); }
};

const ComponentEntry<PoolQuery, SummaryQuery> summary_query_entry{
    "summary",
    {.formula = "q = the summary of the features",
     .paper = "-",
     .choose = "what matters depends on what the text is about",
     .order = 2}};

}  // namespace
}  // namespace heed
