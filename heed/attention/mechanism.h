// A mechanism: a score, an alignment and a dimensionality, parsed from a spec.
//
//   "additive + softmax"     "cosine(5) + local_p(3, renorm)"     "additive + entmax(1.5), multi"

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/spec.h"
#include "heed/parameters.h"

namespace heed {

class Score;
class Alignment;
struct MechanismParts;

class Mechanism {
 public:
  Mechanism();  // scaled_dot + softmax
  /// Throws Error for unknown parts and options, and for combinations that are not defined, with the reason. A spec is
  /// parsed once and then remembered (the first thousands of a process), so that a call may parse its spec each time.
  static Mechanism parse(std::string_view spec);

  std::string to_string() const;  // the spec, "additive + entmax(1.5), multi"; parse() gives the same mechanism
  std::string formula() const;    // formulas of score and alignment
  const MechanismSpec& parts() const;

  const Score& score() const;      // heed/attention/score.h
  const Alignment& align() const;  // heed/attention/align.h
  Dimensionality dimensionality() const;

  /// Names of the parts in error messages: "score/additive", "alignment/entmax".
  const std::string& score_name() const;
  const std::string& align_name() const;

  /// The parts themselves, for the library.
  const std::shared_ptr<const MechanismParts>& shared_parts() const { return parts_; }

  /// Parameters of both parts for these sizes, named "score.*" and "align.*". sizes.dimensionality is ignored.
  std::vector<ParameterSpec> parameters(Sizes sizes) const;

 private:
  explicit Mechanism(std::shared_ptr<const MechanismParts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const MechanismParts> parts_;  // shared by all copies: parts have no state
};

/// One initialized float tensor for each spec, drawn from torch's generator.
Parameters initialized(const std::vector<ParameterSpec>& specs);
/// One tensor, of shape [heads, ...] if heads > 0.
Tensor initialized(const ParameterSpec& spec, int64_t heads = 0);

}  // namespace heed
