// DME: a word is a weighted sum of all its embeddings.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry kiela_2018{
    "kiela_2018",
    {.paper = "Kiela et al., 2018, Dynamic meta-embeddings for improved sentence representations",
     .axes = {"singular", "single", "multi_representational", "additive", "softmax", "single", "self_attentive",
              "singular"},
     .structure = "multi_representational",
     .mechanisms = {"softmax", "sigmoid"}}};

}  // namespace
}  // namespace heed
