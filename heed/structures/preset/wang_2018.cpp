// A capsule with its own query for each class: the weights show the evidence for that class.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry wang_2018{
    "wang_2018",
    {.paper = "Wang et al., 2018, Sentiment analysis by capsules",
     .axes = {"singular", "single", "single", "dot", "softmax", "single", "self_attentive", "capsule"},
     .structure = "capsule",
     .mechanisms = {"softmax"}}};

}  // namespace
}  // namespace heed
