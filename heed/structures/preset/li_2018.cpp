// HATN: cross-domain sentiment; words and sentences are pooled by attention alone, without a recurrent encoder.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry li_2018{
    "li_2018",
    {.paper = "Li et al., 2018, Hierarchical attention transfer network for cross-domain sentiment classification",
     .axes = {"singular", "hierarchical", "single", "additive", "softmax", "single", "self_attentive", "singular"},
     .structure = "hierarchical",
     .mechanisms = {"self_attentive + softmax"}}};

}  // namespace
}  // namespace heed
