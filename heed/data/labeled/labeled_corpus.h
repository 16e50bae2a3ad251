// The labeled examples for training and evaluating a classifier, as specified in a recipe.
//
//   data:
//     root: ../data/sst                   folder of the files below
//     train: train.trees.txt.gz           one or more files; or the word `reviews`: built-in reviews (reviews.h)
//     dev: [...]    test: [...]           files as well, or
//     train_rationales, dev_rationales    weights of words (rationales.h)
//     split: {modulo: 5, dev: [1], test: [2]}   dev and test out of train's files, by the md5 of the texts
//     format, header, text, label, classes, ignore_labels, id, exclude_ids, phrases, sentences, lowercase
//                                         as in ExampleOptions (examples.h)
//
// Only training examples are chosen by exclude_ids, and only of them every phrase is an example.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/settings.h"
#include "heed/data/labeled/examples.h"
#include "heed/data/split.h"

namespace heed {

/// The keys below `data`, by the same names. `examples` has those of every set; its files and residues are not used.
struct LabeledOptions {
  std::string root{};
  std::vector<std::string> train{}, dev{}, test{};
  Split split{};
  std::string train_rationales{}, dev_rationales{};  // a column, or a file (rationales.h); or empty
  ExampleOptions examples{};
  int64_t reviews_seed = 1, reviews_train = 8000, reviews_dev = 500, reviews_test = 1000;

  bool is_reviews() const { return train.size() == 1 && train[0] == "reviews"; }
};

/// Reads the recipe below `data`, but no files; an invalid key or value is an Error. one_class:
/// ExampleOptions::one_class.
LabeledOptions read_labeled_options(const Settings& data, bool one_class = true);

struct LabeledCorpus {
  Examples train, dev, test;         // test may be empty
  std::vector<std::string> classes;  // in order; every label is one of them. Empty unless labels are classes
};

/// Reads and checks all files. An Error if training has one class alone, or dev or test one that training has not.
LabeledCorpus read_labeled_corpus(const LabeledOptions& options);

}  // namespace heed
