// Captions: a decoder looks at the positions of a picture, softly or at one of them. The penalty that makes it look at
// every position is doubly_stochastic_penalty; hard attention learns by Reinforce.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry xu_2015{
    "xu_2015",
    {.paper = "Xu et al., 2015, Show, attend and tell: Neural image caption generation with visual attention",
     .axes = {"singular", "single", "single", "additive", "softmax, hard", "single", "basic", "singular"},
     .structure = "bahdanau_decoder(cell=lstm, gate)",
     .mechanisms = {"additive + softmax", "additive + hard"}}};

}  // namespace
}  // namespace heed
