// Location (Luong et al., 2015):   e_j = (W q)_j      keys are not read; keys from index `max` on are masked

#include "heed/base/check.h"
#include "heed/kernels/reference/score/features.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Location final : public Score<Real> {
 public:
  Location(const Options& options, Form) : max_(options.integer("max", 512)) {
    check(max_ >= 1, "score/location: max is ", max_, ", expected at least 1");
  }
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }
  int64_t max_keys() const override { return max_; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    if (s.form == Form::lift) return {{"from_query", {s.values, max_, s.query}}};
    return {{"from_query", {max_, s.query}}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(
        s, [&](int64_t c) { return dot(part(part(p["from_query"], c, s.width()), pair.key_index, max_), pair.query); });
  }

 private:
  int64_t max_;
};

}  // namespace

extern const ScoreDefinitions::Entry location_score{"location", define<Location>, {.variants = {"location(4)"}}};

}  // namespace heed::kernels::reference
