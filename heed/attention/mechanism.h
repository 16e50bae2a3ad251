// A mechanism in words: a score, an alignment, a dimensionality.
//
//   "additive + softmax"     "cosine(5) + local_p(3, renorm)"     "additive + entmax(1.5), multi"

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/align.h"
#include "heed/attention/score.h"

namespace heed {

class Mechanism {
 public:
  Mechanism();  // scaled_dot + softmax
  /// Refuses unknown words and options, and combinations that have no definition, with the reason.
  static Mechanism parse(std::string_view spec);

  std::string to_string() const;  // "additive + entmax(1.5), multi": parse(to_string()) is the same mechanism
  std::string formula() const;    // score and alignment, one formula each
  const MechanismSpec& parts() const { return parts_; }

  const Score& score() const { return *score_; }
  const Alignment& align() const { return *align_; }
  Dimensionality dimensionality() const { return dimensionality_; }

  /// How errors call the parts: "score/additive", "alignment/entmax".
  std::string score_name() const { return "score/" + parts_.score.name; }
  std::string align_name() const { return "alignment/" + parts_.align.name; }

  /// Of both parts, as "score.*" and "align.*", for widths that fit this mechanism.
  std::vector<ParameterSpec> parameters(Sizes sizes) const;

 private:
  explicit Mechanism(MechanismSpec parts);

  MechanismSpec parts_;
  std::shared_ptr<const Score> score_;
  std::shared_ptr<const Alignment> align_;
  Dimensionality dimensionality_ = Dimensionality::single;
};

/// A tensor for each, drawn from torch's generator, as float.
Parameters initialized(const std::vector<ParameterSpec>& specs);
/// One tensor: [H, shape] if heads > 0.
Tensor initialized(const ParameterSpec& spec, int64_t heads = 0);

}  // namespace heed
