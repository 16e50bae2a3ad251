// What a classifier attends to in one example, as JSON and as pictures.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/text_map.h"
#include <nlohmann/json_fwd.hpp>

#include "heed/models/classify/classifier.h"
#include "heed/models/classify/text_weights.h"

namespace heed::cli {

/// The weights of the call of that name. "": of each text the call that word_weights() takes, and for documents the
/// weights of sentences; "all": every call. Equal weights of a model without attention. Throws Error if there is no
/// such call. head: as for text_weights().
std::vector<TextWeights> chosen_weights(Classifier& classifier, const std::vector<std::string>& example,
                                        const std::string& call, int64_t head);

/// A list with an object for each call and text.
nlohmann::ordered_json weights_json(const std::vector<TextWeights>& all);

/// Texts whose words have weights; and maps, where the queries are words too.
struct TextPictures {
  std::vector<TextMap> texts{};
  std::vector<HeatMap> maps{};
};

/// A picture for each call, or one for all if they attend to different words: a text with a part for each sentence,
/// query, hop or class; or maps of words by words. The title says what is predicted, with its probability; the remark
/// which attention it is, or that there is none.
TextPictures pictures_of(Classifier& classifier, const Prediction& prediction, const std::vector<TextWeights>& weights);

/// "positive 0.9876"; "toxic 0.91, insult 0.72"; "no class"; "0.37"; "" if words are labeled.
std::string predicted(const Classifier& classifier, const Prediction& prediction);

}  // namespace heed::cli
