// Reads labeled examples: texts, and the class that each belongs to. Formats:
//
//   csv, tsv, auto   a table (table.h) with columns for the texts, the label and, if wanted, an id
//   trees            one tree a line (trees.h): the sentence and the label of its root; or every phrase with its own
//   label
//
// Every line is checked before use: a label that is missing, or neither in a class nor ignored, is an Error that names
// file and line.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/labeled/rationales.h"

namespace heed {

struct ExampleOptions {
  std::vector<std::string> files{};
  std::string format = "auto", header = "auto";  // header: of tables (table.h)
  std::vector<std::string> text{"text"};         // columns of a table, "left=title+description" (text_columns.h)
  std::string label = "label", id{};             // columns of a table, the first as in label_column.h; id may be empty
  std::vector<std::string> classes{};            // "negative: 0 1" (label_map.h); empty: labels are classes
  std::vector<std::string> ignore_labels{};      // examples with these labels are left out
  std::string rationales{};                      // column of a table, which records may lack (rationales.h); or empty
  std::string exclude_ids{};  // a file whose first column (TSV) has the ids of examples that are left out; or empty
  bool one_class = true;      // each label is one class; if not, labels are texts of any kind, and may be empty
  bool phrases = false;       // of trees: every distinct pair of a phrase and its class is an example
  std::string sentences = "none";  // rule: sentences are found (sentences.h) and separated by TABs, before lowercasing
  bool lowercase = false;
  /// Keep only examples whose md5 modulo `modulo` is in keep_residues; 0: keep all. The md5 is that of the columns of
  /// all texts as in the file, one after another without a separator; of a tree, that of its sentence.
  int64_t modulo = 0;
  std::vector<int64_t> keep_residues{};
};

/// Numbers of examples left out; empty_text: all their texts are empty. One with several reasons counts for the first
/// of these.
struct LeftOut {
  int64_t other_residue = 0, excluded_id = 0, ignored_label = 0, empty_text = 0, duplicate_phrase = 0;
  bool operator==(const LeftOut&) const = default;
};

/// All members of an example have the same index.
struct Examples {
  std::vector<std::string> columns;             // names of the texts, {"text"}
  std::vector<std::vector<std::string>> texts;  // [example][column]
  std::vector<std::string> labels;              // the class, by name
  std::vector<std::string> origins;             // "train.tsv:17"
  std::vector<std::string> ids{};               // empty without a column of ids
  std::vector<std::vector<bool>> relevant{};    // of built-in reviews: whether a word decides the class; or empty
  std::vector<Rationale> rationales{};          // empty: none were read
  LeftOut left_out{};

  size_t size() const { return texts.size(); }
};

/// A text as the options want it: its sentences with a TAB between, lowercase.
std::string prepared_text(const std::string& text, const ExampleOptions& options);

/// Reads all files; an Error if no example is left.
Examples read_examples(const ExampleOptions& options);

/// The classes in order: those of the options, or all labels of the training set, numbers by value and then others by
/// code point. An Error if the training set has one class alone, or a class has no example.
std::vector<std::string> classes_of(const Examples& train, const ExampleOptions& options);

/// An Error, with file and line, if an example of dev or test has a class that is not one of these.
void check_classes_known(const Examples& examples, const std::vector<std::string>& classes);

}  // namespace heed
