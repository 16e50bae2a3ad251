#include "heed/data/labeled/trees.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

constexpr std::array kEscapes{std::pair{std::string_view("\\/"), '/'}, std::pair{std::string_view("\\*"), '*'},
                              std::pair{std::string_view("-LRB-"), '('}, std::pair{std::string_view("-RRB-"), ')'}};

std::string unescaped_word(std::string_view written) {
  std::string word;
  while (!written.empty()) {
    const auto* const found = std::find_if(kEscapes.begin(), kEscapes.end(),
                                           [&](const auto& escape) { return written.starts_with(escape.first); });
    word += found == kEscapes.end() ? written.front() : found->second;
    written.remove_prefix(found == kEscapes.end() ? 1 : found->first.size());
  }
  return word;
}

/// Reads one line. The nodes that are open are a list instead of calls, so that no depth overflows the stack.
class TreeParser {
 public:
  TreeParser(std::string_view line, const std::string& where) : line_(line), where_(where) {}

  LabeledTree parse() {
    skip_blanks();
    if (at_ == line_.size()) refuse("got an empty line, expected a tree such as (3 (2 good) (2 food))");
    while (at_ < line_.size()) {
      if (open_.empty() && !tree_.phrases.empty()) refuse("got text after the tree, expected one tree a line");
      if (line_[at_] == '(') {
        open_node();
      } else if (line_[at_] == ')') {
        close_node();
      } else {
        add_word();
      }
      skip_blanks();
    }
    if (!open_.empty()) {
      at_ = open_.back().at;
      refuse("got a bracket that is never closed, expected ) at the end of its node");
    }
    return std::move(tree_);
  }

 private:
  struct Node {
    size_t phrase, at;  // index in tree_.phrases; position of its bracket
    bool has_word = false, has_parts = false;
  };

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    const auto character = std::count_if(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(at_), begins) + 1;
    fail("data/trees: ", where_, ": character ", character, ": ", parts...);
  }

  void skip_blanks() { at_ = std::min(line_.find_first_not_of(" \t", at_), line_.size()); }

  /// The text up to a blank or a bracket.
  std::string_view symbol() const { return line_.substr(at_, line_.find_first_of(" \t()", at_) - at_); }

  void open_node() {
    if (!open_.empty()) {
      if (open_.back().has_word) refuse("got a node after the word of a node, expected )");
      open_.back().has_parts = true;
    }
    open_.push_back({tree_.phrases.size(), at_});
    ++at_;
    skip_blanks();
    const std::string_view label = symbol();
    if (label.empty()) refuse("got a node without a label, expected one after the bracket as in (3 good)");
    tree_.phrases.push_back({std::string(label), std::ssize(tree_.words), 0});
    at_ += label.size();
  }

  void close_node() {
    if (open_.empty()) refuse("got ) without a bracket to close, expected (");
    const Node& node = open_.back();
    if (!node.has_word && !node.has_parts)
      refuse("got a node with the label '", excerpt(tree_.phrases[node.phrase].label),
             "' and nothing else, expected a word or nodes after the label");
    tree_.phrases[node.phrase].end = std::ssize(tree_.words);
    open_.pop_back();
    ++at_;
  }

  void add_word() {
    const std::string_view word = symbol();
    if (open_.empty()) refuse("got '", excerpt(word), "' outside brackets, expected (");
    Node& node = open_.back();
    if (node.has_word || node.has_parts)
      refuse("got the word '", excerpt(word), "' after another part of the node, expected ); a word has a node of ",
             "its own");
    node.has_word = true;
    tree_.words.push_back(unescaped_word(word));
    at_ += word.size();
  }

  std::string_view line_;
  const std::string& where_;
  size_t at_ = 0;
  std::vector<Node> open_;
  LabeledTree tree_;
};

}  // namespace

std::string LabeledTree::text(const Phrase& phrase) const {
  return joined({words.begin() + phrase.first, words.begin() + phrase.end}, " ");
}

LabeledTree parse_tree(std::string_view line, const std::string& where) {
  return TreeParser(line, where).parse();
}

std::vector<LabeledTree> read_trees(const std::string& file) {
  const auto lines = read_lines_of(file, "one tree a line");
  std::vector<LabeledTree> trees;
  for (size_t i = 0; i < lines.size(); ++i) trees.push_back(parse_tree(lines[i], file + ":" + std::to_string(i + 1)));
  return trees;
}

}  // namespace heed
