// What an example is labeled with:
//
//   one      one of several classes            "sports"
//   several  any number of several classes     "toxic,insult"; empty: none
//   number   a number                          "0.37"
//   tokens   a class for each word             "0 0 1 0"
//
// The classes and their order are learned from the training labels or given by the recipe, and kept in the run.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed {

enum class LabelForm { one, several, number, tokens };
std::string to_string(LabelForm form);

struct LabelSet {
  LabelForm form = LabelForm::one;
  std::vector<std::string> names{};  // of the classes; empty for numbers
  double mean = 0, deviation = 1;    // of training numbers: a model computes (number - mean) / deviation
  double threshold = 0.5;            // of several: the smallest probability of a class that is predicted

  int64_t size() const { return static_cast<int64_t>(names.size()); }
  nlohmann::ordered_json json() const;
  /// Throws Error, with `path` of the file, if the content is not that of json().
  static LabelSet parse(const nlohmann::json& content, const std::string& path);
};

/// The label of one example.
struct Label {
  std::vector<int64_t> classes{};  // one: its class; several: its classes, ascending; tokens: that of each word
  double number = 0;
};

/// The classes of training labels: in the given order, or sorted, by value if all are whole numbers. origins: of each
/// label, for messages. Throws Error if there is no label or, where classes are needed, a single one.
LabelSet learned_labels(LabelForm form, const std::vector<std::string>& written,
                        const std::vector<std::string>& origins, const std::vector<std::string>& order = {});

/// Throws Error, with its origin, for a label that does not fit: a class that the set does not have, a text that is not
/// a number.
Label parse_label(const LabelSet& labels, const std::string& written, const std::string& origin);

}  // namespace heed
