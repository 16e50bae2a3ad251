#include "heed/base/renamed.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heed {
namespace {

/// Names of run format 2 and before. An old name may have several replacements, at different paths.
constexpr std::array kRenamed{
    std::pair{"words", "embedding"},
    std::pair{"words", "mechanism"},
    std::pair{"width", "dim"},
    std::pair{"dim", "dimensionality"},
    std::pair{"state", "state_dim"},
    std::pair{"out", "out_dim"},
    std::pair{"feed_forward", "feed_forward_dim"},
    std::pair{"hidden", "hidden_dim"},
    std::pair{"heads", "num_heads"},
    std::pair{"key_heads", "num_kv_heads"},
    std::pair{"layers", "num_layers"},
    std::pair{"optimiser", "optimizer"},
    std::pair{"smoothing", "label_smoothing"},
    std::pair{"clip", "clip_norm"},
    std::pair{"average", "ema_decay"},
    std::pair{"epochs", "max_epochs"},
    std::pair{"steps", "max_steps"},
    std::pair{"batch", "batch_tokens"},
    std::pair{"validate", "validate_every"},
    std::pair{"checkpoint", "checkpoint_every"},
    std::pair{"log", "log_every"},
    std::pair{"watch", "monitor"},
    std::pair{"lower", "lowercase"},
    std::pair{"longest", "max_length"},
    std::pair{"warmup", "warmup_steps"},
    std::pair{"b1", "beta1"},
    std::pair{"b2", "beta2"},
    std::pair{"decay", "weight_decay"},
    std::pair{"specialised", "specialized"},
};

}  // namespace

std::string replacement_of(const std::string& old, const std::vector<std::string>& known) {
  for (const auto& [before, now] : kRenamed)
    if (before == old && std::find(known.begin(), known.end(), now) != known.end()) return now;
  return "";
}

}  // namespace heed
