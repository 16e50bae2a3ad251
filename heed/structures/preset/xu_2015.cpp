// Image captions: a decoder attends to the positions of an image, with soft or hard attention. The penalty that makes
// it attend to every position is doubly_stochastic_penalty; hard attention is trained with Reinforce.

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
