// RBAN: question and answer look at each other, after a policy has chosen the words worth a look.

#include "heed/structures/preset.h"

namespace heed {
namespace {

const Preset::Entry wang_2019{
    "wang_2019",
    {.paper = "Wang et al., 2019, Aspect sentiment classification towards question-answering with reinforced "
              "bidirectional attention network",
     .axes = {"parallel", "single", "single", "additive", "reinforced", "single", "specialized", "singular"},
     .structure = "parallel",
     .mechanisms = {"reinforced"}}};

}  // namespace
}  // namespace heed
