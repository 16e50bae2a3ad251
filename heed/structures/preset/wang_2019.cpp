// RBAN: question and answer attend to each other, after a policy has selected the words to attend to.

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
