#include "heed/models/soft_attention.h"

#include <cmath>

#include "heed/attention/mechanism_parts.h"

namespace heed {

SoftAttention::SoftAttention(torch::nn::Module& model, bool soft) {
  if (!soft) return;
  for (const auto& module : model.modules()) {
    auto* attention = dynamic_cast<AttentionImpl*>(module.get());
    if (attention == nullptr || attention->options().mechanism.parts().align.name != "hard") continue;
    attention->set_soft(true);
    softened_.push_back(attention);
  }
}

SoftAttention::~SoftAttention() {
  for (auto* attention : softened_) attention->set_soft(false);
}

bool is_soft_batch(double share, int64_t batch) {
  const auto count = static_cast<double>(batch);
  return std::floor((count + 1) * share) > std::floor(count * share);
}

}  // namespace heed
