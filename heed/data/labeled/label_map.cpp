#include "heed/data/labeled/label_map.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

LabelMap::LabelMap(const std::vector<std::string>& classes, const std::vector<std::string>& ignored) {
  for (const auto& written : classes) {
    const size_t colon = written.find(": ");
    const std::string name = joined(whitespace_words(written.substr(0, colon)), " ");
    const auto labels =
        colon == std::string::npos ? std::vector<std::string>{name} : whitespace_words(written.substr(colon + 1));
    check(!name.empty() && !name.ends_with(':') && !labels.empty(), "data/labels: got class '", excerpt(written),
          "', expected its name and its labels as in 'negative: 0 1'");
    check(std::find(classes_.begin(), classes_.end(), name) == classes_.end(), "data/labels: got class '",
          excerpt(name), "' twice, expected all its labels in one entry");
    classes_.push_back(name);
    for (const auto& label : labels) add(label, name, ignored);
  }
  check(classes_.size() != 1, "data/labels: got the class '", joined(classes_),
        "' alone, expected at least two; leave the list empty where every label is a class");
  for (const auto& label : ignored) class_of_[label];
}

void LabelMap::add(const std::string& label, const std::string& name, const std::vector<std::string>& ignored) {
  const auto [entry, is_new] = class_of_.emplace(label, name);
  check(is_new, "data/labels: got label '", excerpt(label), "' in the classes ", entry->second, " and ", name,
        ", expected it in one of them");
  check(std::find(ignored.begin(), ignored.end(), label) == ignored.end(), "data/labels: got label '", excerpt(label),
        "' in the class ", name, " and among the ignored labels, expected it in one of them");
  known_.push_back(label);
}

bool LabelMap::is_ignored(const std::string& label) const {
  const auto found = class_of_.find(label);
  return found != class_of_.end() && found->second.empty();
}

std::string LabelMap::class_of(const std::string& label, const std::string& where) const {
  if (classes_.empty()) return label;
  const auto found = class_of_.find(label);
  if (found == class_of_.end())
    fail(where, ": got label '", excerpt(label), "', expected one of ", excerpt(joined(known_), 200),
         suggestion(label, known_), "; give it a class, or leave its examples out (ignore_labels)");
  return found->second;
}

}  // namespace heed
