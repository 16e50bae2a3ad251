// A mechanism: a score, an alignment and a dimensionality, parsed from a spec.
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
  /// Throws Error for unknown parts and options, and for combinations that are not defined, with the reason.
  static Mechanism parse(std::string_view spec);

  std::string to_string() const;  // the spec, "additive + entmax(1.5), multi"; parse() gives the same mechanism
  std::string formula() const;    // formulas of score and alignment
  const MechanismSpec& parts() const { return parts_; }

  const Score& score() const { return *score_; }
  const Alignment& align() const { return *align_; }
  Dimensionality dimensionality() const { return dimensionality_; }

  /// Names of the parts in error messages: "score/additive", "alignment/entmax".
  std::string score_name() const { return "score/" + parts_.score.name; }
  std::string align_name() const { return "alignment/" + parts_.align.name; }

  /// Parameters of both parts for these sizes, named "score.*" and "align.*". sizes.dimensionality is ignored.
  std::vector<ParameterSpec> parameters(Sizes sizes) const;

 private:
  explicit Mechanism(MechanismSpec parts);

  MechanismSpec parts_;
  std::shared_ptr<const Score> score_;
  std::shared_ptr<const Alignment> align_;
  Dimensionality dimensionality_ = Dimensionality::single;
};

/// One initialized float tensor for each spec, drawn from torch's generator.
Parameters initialized(const std::vector<ParameterSpec>& specs);
/// One tensor, of shape [heads, ...] if heads > 0.
Tensor initialized(const ParameterSpec& spec, int64_t heads = 0);

}  // namespace heed
