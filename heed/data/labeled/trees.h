// Reads trees with a label on every phrase, one a line, as Penn Treebank writes them:
//
//   (3 (2 The) (4 (2 big) (1 dog)))
//
// A node is a label, then either one word or the nodes of its parts. Words have the escapes \/ for /, \* for *, -LRB-
// for ( and -RRB- for ). An Error names file, line and character.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct LabeledTree {
  /// The words of one node: `first` to `end` - 1.
  struct Phrase {
    std::string label;
    int64_t first = 0, end = 0;
  };
  std::vector<std::string> words;
  std::vector<Phrase> phrases;  // every node, a phrase before its parts: the sentence first

  const std::string& label() const { return phrases.front().label; }
  /// The words of a phrase with one blank between; of the sentence: text(tree.phrases.front()).
  std::string text(const Phrase& phrase) const;
};

/// where: file and line for messages. Trees may be of any depth.
LabeledTree parse_tree(std::string_view line, const std::string& where);

/// The tree of every line; the file may be gzip.
std::vector<LabeledTree> read_trees(const std::string& file);

}  // namespace heed
