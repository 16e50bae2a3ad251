// LCR-Rot-hop: sentiment towards a target; target, left and right context attend to each other in several hops.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry wallaart_2019{
    "wallaart_2019",
    {.paper = "Wallaart & Frasincar, 2019, A hybrid approach for aspect-based sentiment analysis using a lexicalized "
              "domain ontology and attentional neural models",
     .axes = {"rotatory", "single", "single", "activated_general", "softmax", "single", "specialized", "multi_hop"},
     .structure = "rotatory(hops=3)",
     .mechanisms = {"activated_general + softmax"}}};

}  // namespace
}  // namespace heed
