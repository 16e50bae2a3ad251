#include "heed/data/labeled/trees.h"

#include <map>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::string refusal(const std::string& line) {
  return error_of([&] { parse_tree(line, "trees:7"); });
}

/// "3 The big dog; 2 The; ..."
std::string phrases_of(const LabeledTree& tree) {
  std::string all;
  for (const auto& phrase : tree.phrases) all += phrase.label + " " + tree.text(phrase) + "; ";
  return all;
}

TEST(LabeledTree, HasASentenceAndItsPhrasesWithTheirLabels) {
  const auto tree = parse_tree("(3 (2 The) (4 (2 big) (1 dog)))", "");
  EXPECT_EQ(tree.label(), "3");
  EXPECT_EQ(phrases_of(tree), "3 The big dog; 2 The; 4 big dog; 2 big; 1 dog; ");
}

TEST(LabeledTree, MayHaveWordsAsLabelsAndOneWordAlone) {
  EXPECT_EQ(phrases_of(parse_tree("(very_good nice)", "")), "very_good nice; ");
  EXPECT_EQ(phrases_of(parse_tree("  ( S( NP  Tom )\t(VP runs))  ", "")), "S Tom runs; NP Tom; VP runs; ");
}

TEST(LabeledTree, LosesTheEscapesOfItsWords) {
  EXPECT_EQ(phrases_of(parse_tree(R"((2 (2 -LRB-) (2 and\/or) (2 \*\*) (2 -RRB-) (2 a\b)))", "")),
            R"(2 ( and/or ** ) a\b; 2 (; 2 and/or; 2 **; 2 ); 2 a\b; )");
}

TEST(LabeledTree, IsRefusedWhereItIsBroken) {
  EXPECT_EQ(refusal("(3 (2 The) (4 big)"),
            "data/trees: trees:7: character 1: got a bracket that is never closed, expected ) at the end of its node");
  EXPECT_TRUE(says(refusal("(3 (2 ö) (4 (2 a) (2 b)"), {"character 10: got a bracket that is never closed"}));
  EXPECT_TRUE(says(refusal("(3 a))"), {"character 6: got text after the tree"}));
  EXPECT_TRUE(says(refusal(")"), {"character 1: got ) without a bracket"}));
  EXPECT_TRUE(says(refusal("(3 a) (3 b)"), {"character 7: got text after the tree"}));
  EXPECT_TRUE(says(refusal("3 a"), {"character 1: got '3' outside brackets"}));
  EXPECT_TRUE(says(refusal(" "), {"got an empty line"}));
  EXPECT_TRUE(says(refusal("(3 ((2 a)))"), {"character 5: got a node without a label"}));
  EXPECT_TRUE(says(refusal("()"), {"character 2: got a node without a label"}));
  EXPECT_TRUE(says(refusal("(3 (2 ))"), {"character 7: got a node with the label '2' and nothing else"}));
  EXPECT_TRUE(says(refusal("(3 New York)"), {"character 8: got the word 'York' after another part"}));
  EXPECT_TRUE(says(refusal("(3 (2 a) b)"), {"character 10: got the word 'b' after another part"}));
  EXPECT_TRUE(says(refusal("(3 a (2 b))"), {"character 6: got a node after the word"}));
}

TEST(LabeledTree, MayBeAsDeepAsALineIsLong) {
  constexpr int kDepth = 250'000;
  std::string line;
  for (int i = 0; i < kDepth; ++i) line += "(1 ";
  const auto tree = parse_tree(line + "a" + std::string(kDepth, ')'), "");
  EXPECT_EQ(tree.phrases.size(), 250'000U);
  EXPECT_EQ(tree.text(tree.phrases.front()), "a");
}

class TreeFile : public FolderTest {};

TEST_F(TreeFile, HasATreeOnEachLine) {
  const auto trees = read_trees(write("trees", "(1 a)\n(0 (1 b) (1 c))\n"));
  ASSERT_EQ(trees.size(), 2U);
  EXPECT_EQ(trees[1].text(trees[1].phrases[0]), "b c");
  EXPECT_TRUE(
      says(error_of([&] { read_trees(write("trees", "(1 a)\n(1 b\n")); }), {path("trees") + ":2: character 1"}));
}

// The numbers of the treebank's paper (Socher et al., 2013): 8,544 and 1,101 sentences.
TEST(Treebank, HasThePublishedNumbersOfSentencesAndPhrases) {
  const std::string folder = data_folder() + "sst/";
  if (!exists(folder + "train.trees.txt.gz")) GTEST_SKIP() << folder << " is not there; HEED_DATA names the folder";
  const auto train = read_trees(folder + "train.trees.txt.gz");
  std::map<std::string, int> labels;
  size_t phrases = 0, words = 0;
  for (const auto& tree : train) {
    ++labels[tree.label()];
    phrases += tree.phrases.size();
    words += tree.words.size();
  }
  EXPECT_EQ(train.size(), 8544U);
  EXPECT_EQ(labels, (std::map<std::string, int>{{"0", 1092}, {"1", 2218}, {"2", 1624}, {"3", 2322}, {"4", 1288}}));
  EXPECT_EQ(phrases, 318582U);
  EXPECT_EQ(words, 163563U);
  EXPECT_EQ(read_trees(folder + "dev.trees.txt.gz").size(), 1101U);
}

}  // namespace
}  // namespace heed::testing
