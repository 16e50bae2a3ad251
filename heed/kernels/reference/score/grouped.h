// Scores without a matrix: a formula on one group of features per channel.

#pragma once

#include <string>

#include "heed/base/check.h"
#include "heed/kernels/reference/score/features.h"

namespace heed::kernels::reference {

inline void check_groups(const std::string& name, const Sizes& s) {
  check(s.query == s.keys, "score/", name, ": query has ", s.query, " features and keys have ", s.keys,
        ", expected as many; general or additive compare different widths");
  check(s.keys % s.width() == 0, "score/", name, ": keys have ", s.keys, " features, expected a multiple of the ",
        s.width(), " channels of the values");
}

template <typename Real>
class Grouped : public Score<Real> {
 public:
  explicit Grouped(std::string name) : name_(std::move(name)) {}
  std::vector<Form> forms() const override { return {Form::single, Form::lift}; }
  void check_sizes(const Sizes& sizes) const override { check_groups(name_, sizes); }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(
        s, [&](int64_t c) { return formula(p, part(pair.query, c, s.width()), part(pair.key, c, s.width())); });
  }

 protected:
  virtual Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const = 0;

 private:
  std::string name_;
};

}  // namespace heed::kernels::reference
