#include "heed/metrics/alignment_error.h"

#include <set>
#include <utility>

#include "heed/base/check.h"
#include "heed/metrics/share.h"

namespace heed {
namespace {

using Pairs = std::set<std::pair<int64_t, int64_t>>;

Pairs pairs(const Links& links, bool only_sure) {
  Pairs all;
  for (const auto& link : links)
    if (link.sure || !only_sure) all.emplace(link.source, link.target);
  return all;
}

int64_t in_both(const Pairs& one, const Pairs& other) {
  int64_t count = 0;
  for (const auto& pair : one) count += other.contains(pair) ? 1 : 0;
  return count;
}

}  // namespace

AlignmentError alignment_error(const std::vector<Links>& links, const std::vector<Links>& gold) {
  check(links.size() == gold.size(), "metrics/alignment_error: got links for ", links.size(),
        " pairs of sentences and gold for ", gold.size(), ", expected equal numbers");
  AlignmentError all;
  for (size_t i = 0; i < links.size(); ++i) {
    const Pairs ours = pairs(links[i], false), sure = pairs(gold[i], true), possible = pairs(gold[i], false);
    all.links += static_cast<int64_t>(ours.size());
    all.sure += static_cast<int64_t>(sure.size());
    all.possible += static_cast<int64_t>(possible.size());
    all.sure_hits += in_both(ours, sure);
    all.possible_hits += in_both(ours, possible);
  }
  if (all.links + all.sure > 0) all.error = 1 - share(all.sure_hits + all.possible_hits, all.links + all.sure);
  all.precision = share(all.possible_hits, all.links);
  all.recall = share(all.sure_hits, all.sure);
  return all;
}

}  // namespace heed
