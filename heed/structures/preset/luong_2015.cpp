// Translation, with the query after the recurrent step; global and local attention.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry luong_2015{
    "luong_2015",
    {.paper = "Luong et al., 2015, Effective approaches to attention-based neural machine translation",
     .axes = {"singular", "single", "single", "general, dot, concat, location", "softmax, local_m, local_p", "single",
              "basic", "singular"},
     .structure = "luong_decoder",
     .mechanisms = {"general + softmax", "dot + softmax", "concat + softmax", "location + softmax", "general + local_m",
                    "general + local_p", "dot + local_p"}}};

}  // namespace
}  // namespace heed
