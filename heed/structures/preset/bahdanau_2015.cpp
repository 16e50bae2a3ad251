// Translation, with a context for each word of the target.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry bahdanau_2015{
    "bahdanau_2015",
    {.paper = "Bahdanau et al., 2015, Neural machine translation by jointly learning to align and translate",
     .axes = {"singular", "single", "single", "additive", "softmax", "single", "basic", "singular"},
     .structure = "bahdanau_decoder",
     .mechanisms = {"additive + softmax"}}};

}  // namespace
}  // namespace heed
