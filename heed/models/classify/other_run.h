// A classifier of another run that a recipe names, to train with: it must read texts as the one that is trained does.

#pragma once

#include <string>

#include "heed/models/classify/classifier.h"

namespace heed {

/// Loads the run that the key `run` of a section names. own: what is trained. Throws Error with the cure if the folder
/// is not a run of a classifier, or its token ids or classes are others.
Classifier load_other_run(const Settings& section, const std::string& run, const TextReader& own,
                          const LabelSet& labels, at::Device device);

/// Hash of the weights of a run, and so of its whole model (heed/data/saved_model.h).
std::string other_run_md5(const std::string& run);

}  // namespace heed
