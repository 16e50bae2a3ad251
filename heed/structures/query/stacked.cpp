// Stacked attention (SAN, Yang et al., 2016, "Stacked attention networks for image question answering"):
//
//   c^k = Att(u^{k-1}, F),   u^k = c^k + u^{k-1},   u^0 = q,   k = 1 .. K
//
// Each hop adds the context it found to the query. Hops have separate parameters, as in the paper, or share them
// (tied). Because of the sum, query and features must have the same width.

#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class Stacked final : public Structure {
 public:
  Stacked(const Options& spec, const StructureOptions& options) : Structure(options, "additive + softmax") {
    const int64_t hops = checked_hops("stacked", spec.integer("hops", 2));
    const bool tied = spec.flag("tied");
    check(width_of_query() == width_of(0), "stacked: the query is ", width_of_query(), " wide and the features ",
          width_of(0), "; expected the same, since contexts are added to the query");
    attend_ = for_each_hop(hops, tied,
                           [&](const std::string& hop) { return slot("attend" + hop, width_of_query(), width_of(0)); });
  }

  StructureSignature takes() const override { return {.features = {"features"}, .query = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    out.context = in.query;
    for (size_t hop = 0; hop < attend_.size(); ++hop)  // [B, Lq, D]
      out.context = out.context + attend_[hop](out, out.context, in.features[0], in.call);
    return out;
  }

  std::vector<Slot> attend_;
};

const Structure::Parts::Entry stacked_entry{"stacked",
                                            make_structure<Stacked>,
                                            {.formula = "u' = u + Att(u, F)",
                                             .paper = "Yang et al., 2016 (SAN)",
                                             .cost = "K mechanisms, one after the other",
                                             .choose = "a question about regions of a picture, in several steps",
                                             .axis = "queries",
                                             .variants = {"stacked(3, tied)"},
                                             .synonyms = {"san"},
                                             .order = 4}};

}  // namespace
}  // namespace heed
