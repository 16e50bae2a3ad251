// Scores with a matrix. Lifted: a stack of matrices, one per channel.

#pragma once

#include "heed/kernels/reference/score/features.h"

namespace heed::kernels::reference {

template <typename Real>
class Bilinear : public Score<Real> {
 public:
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", stacked(s, {s.keys, s.query})}};
  }

 protected:
  static std::vector<int64_t> stacked(const Sizes& s, std::vector<int64_t> shape) {
    if (s.form == Form::lift) shape.insert(shape.begin(), s.values);
    return shape;
  }

  /// W_c q: [Dk]
  static std::vector<Real> projected(const HeadParameters<Real>& p, const Pair<Real>& pair, int64_t c, const Sizes& s) {
    return product(part(p["from_query"], c, s.width()), pair.query);
  }
};

}  // namespace heed::kernels::reference
