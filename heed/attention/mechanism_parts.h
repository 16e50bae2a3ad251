// Internal: the parts of a mechanism, shared by all copies of it.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "heed/attention/align.h"
#include "heed/attention/score.h"
#include "heed/base/spec.h"

namespace heed {

struct MechanismParts {
  explicit MechanismParts(MechanismSpec given);

  MechanismSpec spec;
  std::shared_ptr<const Score> score;
  std::shared_ptr<const Alignment> align;
  Dimensionality dimensionality;
  std::string score_name, align_name;  // in messages: "score/additive", "alignment/entmax"
  Offers offers;
  TiledScore score_kernel;
  TiledAlignment align_kernel[2];  // without and with sampling

  /// Parameters that both parts declare for these sizes. Those of the last sizes are remembered, because a program
  /// calls a mechanism with the same sizes again and again.
  struct Declared {
    Sizes sizes;
    std::vector<ParameterSpec> score, align;
  };
  std::shared_ptr<const Declared> declared(const Sizes& sizes) const;

 private:
  mutable std::atomic<std::shared_ptr<const Declared>> last_;
};

}  // namespace heed
