// Local-m alignment (monotonic; Luong et al., 2015): softmax inside a window around the query's position.
//
//   a = softmax over { j : |j - t| <= D },   t the position of the query
//
// The window is clipped, never shifted: beyond the last key it may be empty, and all weights are then 0.
// With clamp the center is min(t, S - 1), S the number of keys, as in the authors' code.

#include "heed/attention/align.h"

namespace heed {
namespace {

class LocalM final : public Alignment {
 public:
  explicit LocalM(const Options& options) : window_(options.integer("window", 10)), clamp_(options.flag("clamp")) {
    check(window_ >= 0, "alignment/local_m: window is ", window_, ", expected at least 0");
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    const auto inside = (in.key_index - center(in)).abs() <= window_;  // [B|1, 1, Lq, Lk, 1]
    return normalized(in.scores, in.keep.logical_and(inside));
  }
  TiledAlignment kernel(Dimensionality, bool) const override { return {.reach = window_}; }
  AlignmentTensors tile(const Parameters&, const Scored& in) const override {
    return {.center = center(in).squeeze(-1).squeeze(-1).to(at::kLong)};
  }
  Offers offers() const override { return {.lse = true}; }
  bool positional() const override { return true; }

 private:
  /// [B|1, 1, Lq, 1, 1]
  Tensor center(const Scored& in) const {
    const auto last = (in.key_count - 1).clamp_min(0);
    return clamp_ ? at::minimum(in.query_index, last) : in.query_index.unsqueeze(0).unsqueeze(0);
  }

  int64_t window_;
  bool clamp_;
};

const Catalogue<Alignment>::Entry local_m_entry{"local_m",
                                                make_part<Alignment, LocalM>,
                                                {.formula = "softmax over |j - t| <= D",
                                                 .paper = "Luong et al., 2015",
                                                 .cost = "Lq (2D + 1)",
                                                 .choose = "sequences that run side by side",
                                                 .variants = {"local_m(1)", "local_m(2, clamp)"},
                                                 .synonyms = {"monotonic", "local_monotonic"},
                                                 .order = 5}};

}  // namespace
}  // namespace heed
