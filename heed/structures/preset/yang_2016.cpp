// HAN: documents of sentences of words, each level encoded by a recurrent encoder and pooled by a learned query.
//
// A learned query with a hidden layer is the additive score of the survey with a constant query: u . tanh(W k + b).

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry yang_2016{
    "yang_2016",
    {.paper = "Yang et al., 2016, Hierarchical attention networks for document classification",
     .axes = {"singular", "hierarchical", "single", "additive", "softmax", "single", "self_attentive", "singular"},
     .structure = "hierarchical(encoder=gru)",
     .mechanisms = {"self_attentive + softmax"}}};

}  // namespace
}  // namespace heed
