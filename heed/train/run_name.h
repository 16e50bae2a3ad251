// Names a run after its command-line overrides, so that two variants of a recipe have different folders.
//
//   heed train recipes/demo.yaml model.attention='general + softmax' train.seed=2
//   -> runs/demo-recipe-attention=general+softmax,seed=2
//
// Keys are sorted, and "model." and "train." are dropped. Characters that need quotes in a shell become "_". A long
// name is truncated and ends in a hash of the whole. name, run.*, data.root and train.device are ignored: they
// determine where a run is, not what it computes.

#pragma once

#include <string>

#include "heed/base/settings.h"

namespace heed {

/// "-attention=general+softmax,seed=2"; "" without overrides, or if the command line sets `name`.
std::string name_of_changes(const Settings& recipe);

}  // namespace heed
