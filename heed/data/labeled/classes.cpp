// The classes of labeled examples.

#include <algorithm>
#include <map>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/scalar.h"
#include "heed/data/labeled/examples.h"
#include "heed/data/labeled/label_map.h"

namespace heed {
namespace {

/// Numbers by value, before all other labels.
bool comes_first(const std::string& a, const std::string& b) {
  double left = 0, right = 0;
  const bool left_is_number = read_number(a, left), right_is_number = read_number(b, right);
  if (left_is_number && right_is_number && left != right) return left < right;
  return left_is_number == right_is_number ? a < b : left_is_number;
}

}  // namespace

std::vector<std::string> classes_of(const Examples& train, const ExampleOptions& options) {
  std::map<std::string, int64_t> count;
  for (const auto& label : train.labels) ++count[label];
  if (count.size() == 1)
    fail("data/examples: ", joined(options.files), ": all ", train.size(), " examples have the label '",
         excerpt(train.labels.front()), "', expected at least two classes; check the column of the label (",
         options.label, ") and the classes");
  std::vector<std::string> classes = LabelMap(options.classes, options.ignore_labels).classes();
  for (const auto& name : classes)
    check(count.count(name) > 0, "data/examples: ", joined(options.files), ": no example has a label of the class '",
          excerpt(name), "', expected some for every class");
  if (classes.empty())
    for (const auto& [label, times] : count) classes.push_back(label);
  if (options.classes.empty()) std::sort(classes.begin(), classes.end(), comes_first);
  return classes;
}

void check_classes_known(const Examples& examples, const std::vector<std::string>& classes) {
  for (size_t i = 0; i < examples.size(); ++i)
    if (std::find(classes.begin(), classes.end(), examples.labels[i]) == classes.end())
      fail("data/examples: ", examples.origins[i], ": got label '", excerpt(examples.labels[i]),
           "', which no training example has, expected one of ", excerpt(joined(classes), 200),
           suggestion(examples.labels[i], classes), "; leave its examples out (ignore_labels)");
}

}  // namespace heed
