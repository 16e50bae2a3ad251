// Classes from the labels of a file. A class is written as its name and its labels:
//
//   negative: 0 1     labels 0 and 1 become the class negative
//   World             the label World becomes the class of the same name
//
// Without classes every label is a class. Examples with an ignored label are left out.

#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace heed {

class LabelMap {
 public:
  /// An Error for a class without labels or a name, a name or a label that is given twice, and one class alone.
  LabelMap(const std::vector<std::string>& classes, const std::vector<std::string>& ignored);

  bool is_ignored(const std::string& label) const;
  /// The class of a label that is not ignored; an Error, which begins with `where`, if no class has it.
  std::string class_of(const std::string& label, const std::string& where) const;
  /// The names of the classes in their order; empty if every label is a class.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  void add(const std::string& label, const std::string& name, const std::vector<std::string>& ignored);

  std::vector<std::string> classes_, known_;               // known_: all labels
  std::unordered_map<std::string, std::string> class_of_;  // ignored labels have the class ""
};

}  // namespace heed
