// The column of a table that has the label of an example. It is written as
//
//   label       a name or a number of a column
//   mean(3)     the mean of the numbers in a column, separated by blanks: that of 0 0 1 0 is 0.25

#pragma once

#include <string>

namespace heed {

struct LabelColumn {
  std::string from;   // column of the file, by name or number
  bool mean = false;  // whether the label is the mean of the numbers in it
};

LabelColumn read_label_column(const std::string& written);

/// The label in a field of the column, without blanks around it. Throws Error, with its origin, if it has a mean and is
/// not made of numbers.
std::string label_of(const LabelColumn& column, const std::string& field, const std::string& origin);

}  // namespace heed
