// Base of scores with a hidden layer x, which ends in one of two ways.
//   single, hidden:  e = w_c . act(x)         w [W, Dh]
//   elementwise:     e_c = 5 act(x_c / 5)     Shen et al., 2018: linear near 0, bounded by 5

#pragma once

#include <utility>

#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/score/features.h"

namespace heed::kernels::reference {

template <typename Real>
class HiddenLayer : public Score<Real> {
 public:
  HiddenLayer(const Options& options, Form form)
      : activate_(activation<Real>(options.choice("activation", activation_names()))), form_(form) {}
  std::vector<Form> forms() const override { return {Form::single, Form::hidden, Form::elementwise}; }

 protected:
  int64_t hidden(const Sizes& s) const { return form_ == Form::elementwise ? s.values : kHidden; }

  void declare_last(const Sizes& s, std::vector<Declared>& all) const {
    if (form_ != Form::elementwise) all.push_back({"to_scores", {s.width(), kHidden}});
  }

  std::vector<Real> finish(const HeadParameters<Real>& p, std::vector<Real> x) const {
    if (form_ == Form::elementwise) {
      for (Real& one : x) one = 5.0 * activate_(one / 5.0);
      return x;
    }
    for (Real& one : x) one = activate_(one);
    return product<Real>(p["to_scores"], x);
  }

 private:
  Activation<Real> activate_;
  Form form_;
};

}  // namespace heed::kernels::reference
