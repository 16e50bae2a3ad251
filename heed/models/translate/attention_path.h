// Which path the attention of a translation model takes, for people.

#pragma once

#include <string>

#include "heed/models/translate/model.h"

namespace heed {

/// "attention: fused, kernel avx2: additive x softmax", or "attention: composed: no kernel for ...; slower than a
/// kernel"; where encoder, decoder and cross-attention differ, each of them. From the plans of a pass over the batch,
/// without gradients, on its device; the model is left as it was.
std::string described_paths(TranslationModel& model, const PairBatch& batch);

}  // namespace heed
