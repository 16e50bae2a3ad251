// The name of a run after what was changed on the command line, so that two variants of a recipe have two folders.
//
//   heed train recipes/demo.yaml model.attention='general + softmax' train.seed=2
//   -> runs/demo-attention=general+softmax,seed=2
//
// Keys are sorted, "model." and "train." are dropped. What has to be quoted in a shell becomes "_". A long text is
// shortened and ends in a hash of the whole. name, run.*, data.root and train.device do not count: they say where a run
// is, not what it is.

#pragma once

#include <string>

#include "heed/base/settings.h"

namespace heed {

/// "-attention=general+softmax,seed=2"; "" where nothing was changed, or where the command line gives a name.
std::string name_of_changes(const Settings& recipe);

}  // namespace heed
