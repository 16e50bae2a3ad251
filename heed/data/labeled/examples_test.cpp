#include "heed/data/labeled/examples.h"

#include <algorithm>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

class ExampleFile : public FolderTest {
 protected:
  Examples table(const std::string& bytes, ExampleOptions options) const {
    options.files = {write("a.tsv", bytes)};
    return read_examples(options);
  }
  Examples trees(const std::string& bytes, ExampleOptions options = {}) const {
    options.files = {write("a.trees", bytes)};
    options.format = "trees";
    return read_examples(options);
  }
  std::string refusal(const std::string& bytes, const ExampleOptions& options = {.text = {"2"}, .label = "1"}) const {
    return error_of([&] { table(bytes, options); });
  }
};

/// The first text and the class of each example: "good food: pos; ".
std::string summary(const Examples& examples) {
  std::string all;
  for (size_t i = 0; i < examples.size(); ++i) all += examples.texts[i][0] + ": " + examples.labels[i] + "; ";
  return all;
}

TEST_F(ExampleFile, HasTextsAndLabelsWithTheirOrigins) {
  const auto examples = table("label\ttext\npos\tgood food\n neg \tbad film\n", {});
  EXPECT_EQ(examples.columns, Lines{"text"});
  EXPECT_EQ(summary(examples), "good food: pos; bad film: neg; ");
  EXPECT_EQ(examples.origins[1], path("a.tsv") + ":3");
}

TEST_F(ExampleFile, MayHaveSeveralTextsOfSeveralColumns) {
  const auto examples =
      table("7\tA\tb c\t\tx\n8\tD\te\tf\ty\n", {.text = {"left=2+3", "right=4+2"}, .label = "5", .id = "1"});
  EXPECT_EQ(examples.columns, (Lines{"left", "right"}));
  EXPECT_EQ(examples.texts, (std::vector<Lines>{{"A b c", "A"}, {"D e", "f D"}}));
  EXPECT_EQ(examples.ids, (Lines{"7", "8"}));
}

TEST_F(ExampleFile, MayBeLabeledWithTheMeanOfNumbers) {
  const std::string mask = "7\tone two three four\t0 1 0 0\n8\tfive six\t1 0\n";
  EXPECT_EQ(summary(table(mask, {.text = {"2"}, .label = "mean(3)", .one_class = false})),
            "one two three four: 0.25; five six: 0.5; ");
  EXPECT_EQ(summary(table("id\ttext\tmask\n" + mask, {.label = "mean(mask)", .one_class = false})),
            "one two three four: 0.25; five six: 0.5; ");
}

TEST_F(ExampleFile, HasClassesOfSeveralLabels) {
  const ExampleOptions options{
      .text = {"2"}, .label = "1", .classes = {"bad: 0 1", "good: 3 4"}, .ignore_labels = {"2"}, .lowercase = true};
  const auto examples = table("0\tA\n2\tB\n4\tC\n3\tD\n", options);
  EXPECT_EQ(summary(examples), "a: bad; c: good; d: good; ");
  EXPECT_EQ(examples.left_out, (LeftOut{.ignored_label = 1}));
  EXPECT_EQ(refusal("0\tA\n5\tB\n", options),
            "data/examples: " + path("a.tsv") +
                ":2: got label '5', expected one of 0, 1, 3, 4; give it a class, or leave its examples out "
                "(ignore_labels)");
}

TEST_F(ExampleFile, CountsWhatIsLeftOut) {
  write("ids", "b\tmore\nd\n");
  const ExampleOptions options{
      .text = {"3"}, .label = "2", .id = "1", .ignore_labels = {"-"}, .exclude_ids = path("ids")};
  const auto examples = table("a\t0\tone two\nb\t1\tone\nd\t-\tx\ne\t-\tx\nf\t1\t \n", options);
  EXPECT_EQ(summary(examples), "one two: 0; ");
  EXPECT_EQ(examples.left_out, (LeftOut{.excluded_id = 2, .ignored_label = 1, .empty_text = 1}));
  EXPECT_TRUE(says(refusal("a\t-\tx\nb\t0\ty\n", options), {"of 2 examples none is left", "1 with an ignored label"}));
}

// md5 modulo 4, by Python's hashlib: "Abc" 1, "Ab c" 3, "ab c" 0, "G" 3. The text "Ab c" is hashed as "Abc".
TEST_F(ExampleFile, IsSplitByTheDigestOfItsColumnsAsInTheFile) {
  const std::string bytes = "0\tAb\tc\n1\tG\t\n";
  const auto kept = [&](int64_t residue) {
    return summary(
        table(bytes, {.text = {"left=2+3"}, .label = "1", .lowercase = true, .modulo = 4, .keep_residues = {residue}}));
  };
  EXPECT_EQ(kept(1), "ab c: 0; ");
  EXPECT_EQ(kept(3), "g: 1; ");
  EXPECT_TRUE(says(error_of([&] { kept(0); }), {"of 2 examples none is left (2 not among the residues"}));
}

TEST_F(ExampleFile, OfTreesHasSentencesOrEveryDistinctPhrase) {
  const std::string bytes = "(3 (2 The) (4 (4 Big) (1 dog)))\n(0 (2 the) (1 dog))\n(2 (1 dog))\n";
  EXPECT_EQ(summary(trees(bytes)), "The Big dog: 3; the dog: 0; dog: 2; ");
  const auto phrases = trees(bytes, {.ignore_labels = {"2"}, .phrases = true, .lowercase = true});
  EXPECT_EQ(summary(phrases), "the big dog: 3; big dog: 4; big: 4; dog: 1; the dog: 0; ");
  EXPECT_EQ(phrases.left_out, (LeftOut{.ignored_label = 3, .duplicate_phrase = 2}));
  EXPECT_EQ(phrases.origins.back(), path("a.trees") + ":2");
  EXPECT_EQ(summary(trees("(1 (0 dog))\n(0 (1 dog))\n", {.phrases = true})), "dog: 1; dog: 0; ");
}

TEST_F(ExampleFile, IsReadThoughOneOfSeveralTextsIsEmpty) {
  const auto examples = table("0\t\tsoup\tis cold\n1\t \t\t\n1\tthe\tsoup\t\n",
                              {.text = {"left=2", "target=3", "right=4"}, .label = "1"});
  ASSERT_EQ(examples.size(), 2U);
  EXPECT_EQ(examples.texts[0], (std::vector<std::string>{"", "soup", "is cold"}));
  EXPECT_EQ(examples.texts[1], (std::vector<std::string>{"the", "soup", ""}));
  EXPECT_EQ(examples.left_out, (LeftOut{.empty_text = 1}));
}

TEST_F(ExampleFile, HasItsSentencesBeforeItIsLowercased) {
  const std::string bytes = "0,\"It is. So\tbad.<br />No\"\n1,<br />\n";
  ExampleOptions options{
      .files = {write("a.csv", bytes)}, .text = {"2"}, .label = "1", .sentences = "rule", .lowercase = true};
  const auto examples = read_examples(options);
  EXPECT_EQ(summary(examples), "it is.\tso bad.\tno: 0; ");
  EXPECT_EQ(examples.left_out, (LeftOut{.empty_text = 1}));
  options.sentences = "tab";
  EXPECT_EQ(read_examples(options).texts[0][0], "it is. so\tbad.<br />no");
  options.sentences = "rules";
  EXPECT_TRUE(says(error_of([&] { read_examples(options); }), {"got sentences 'rules'", "did you mean 'rule'?"}));
}

TEST_F(ExampleFile, OfTabsHasFurtherColumnsAsSentencesOrNotAtAll) {
  const std::string bytes = "0\tIt is.\n1\tSo\tbad.\tNo\n",
                    got = ":2: got 4 columns, expected at most 2 as in the first";
  EXPECT_TRUE(says(refusal(bytes), {path("a.tsv") + got}));
  EXPECT_TRUE(says(refusal(bytes, {.text = {"2"}, .label = "1", .sentences = "rule"}), {got}));
  const auto documents = table(bytes, {.text = {"2"}, .label = "1", .sentences = "tab"});
  EXPECT_EQ(summary(documents), "It is.: 0; So\tbad.\tNo: 1; ");
  const ExampleOptions named{.sentences = "tab"};
  EXPECT_EQ(summary(table("label\ttext\n0\ta\tb\n", named)), "a\tb: 0; ");
  EXPECT_EQ(summary(table("label\ttext\tnote\n0\ta\tb\n", named)), "a: 0; ");
  EXPECT_TRUE(says(refusal("text\tlabel\na\t0\tb\n", named), {":2: got 3 columns, expected at most 2"}));
}

TEST_F(ExampleFile, IsRefusedWithTheLineThatHasNoLabel) {
  EXPECT_EQ(refusal("0\ta\n \tb\n"),
            "data/examples: " + path("a.tsv") +
                ":2: got an empty label, expected one for every example; write it, or remove the line");
  EXPECT_TRUE(
      says(refusal("0\ta\nb\n", {.text = {"1"}, .label = "2"}), {path("a.tsv") + ":2: got 1 column, expected"}));
  EXPECT_TRUE(says(refusal("lable\ttext\n0\ta\n", {}),
                   {":1: got no column 'label' of data.label, expected", "did you mean 'lable'?"}));
  EXPECT_TRUE(says(refusal("0\n", {.text = {"2"}, .label = "1"}), {": got column 2 of data.text, expected 1 to 1"}));
}

TEST_F(ExampleFile, IsRefusedWhereItsFirstLineSeemsToNameTheColumns) {
  const std::string bytes = "label\ttext\n0\ta\n1\tb\n0\tc\n1\td\n0\te\n1\tf\n";
  EXPECT_TRUE(says(refusal(bytes), {path("a.tsv") + ":1: got the label 'label', which no other line has",
                                    "set header (data.header) to true"}));
  EXPECT_EQ(table(bytes, {.header = "false", .text = {"2"}, .label = "1"}).size(), 7U);
  EXPECT_EQ(table(bytes, {.header = "true", .text = {"2"}, .label = "1"}).size(), 6U);
}

TEST_F(ExampleFile, IsRefusedWhereItsFirstLineHasWordsOfAHeader) {
  const auto refused = [&](const std::string& header, const std::string& more, ExampleOptions options) {
    return says(refusal(header + more, options),
                {path("a.tsv") + ":1: got the label '", "which no other line has", "(data.header) to true"});
  };
  const ExampleOptions one{.text = {"2"}, .label = "1"}, several{.text = {"2"}, .label = "1", .one_class = false};
  const std::string few = "pos\ta\nneg\tb c\n", lists = "toxic,insult\ta\n\tb c\n";
  for (const std::string header : {"label\ttext\n", "Label\tSentence1\n", "y\tcomment_text\n", "gold-class\tx\n"}) {
    EXPECT_TRUE(refused(header, few, one)) << header;
    EXPECT_TRUE(refused(header, lists, several)) << header;
  }
  EXPECT_TRUE(refused("label\tleft\ttarget\n", "0\ta\tb\n", {.text = {"left=2", "right=3"}, .label = "1"}));
  EXPECT_EQ(table("label\ttext\n" + few, {.header = "true", .text = {"2"}, .label = "1"}).size(), 2U);
  EXPECT_EQ(table("label\ttext\n" + few, {.header = "false", .text = {"2"}, .label = "1"}).size(), 3U);
  EXPECT_EQ(table("label\ttext\n" + few, {.text = {"2"}, .label = "1", .ignore_labels = {"label"}}).size(), 2U);
  EXPECT_EQ(table("class\tWe met in class .\n" + few, one).size(), 3U);  // a text
  EXPECT_EQ(table("0.5\ttext\n" + few, one).size(), 3U);
  EXPECT_EQ(table("pos\ttext\n" + few, one).size(), 3U);  // a label that others have
}

TEST_F(ExampleFile, IsRefusedWithInvalidOptions) {
  const std::string bytes = "0\ta\n";
  EXPECT_EQ(refusal(bytes, {.format = "tree"}),
            "data/examples: got format 'tree', expected one of auto, csv, tsv, trees (did you mean 'trees'?)");
  EXPECT_TRUE(says(refusal(bytes, {.phrases = true}), {"expected format trees"}));
  EXPECT_TRUE(says(refusal(bytes, {.format = "trees", .id = "1"}), {"got ids with format trees"}));
  EXPECT_TRUE(says(refusal(bytes, {.exclude_ids = "x"}), {"set id"}));
  EXPECT_TRUE(says(refusal(bytes, {.modulo = 3}), {"got 0 residues to keep with modulo 3"}));
  EXPECT_TRUE(says(refusal(bytes, {.modulo = 3, .keep_residues = {3}}), {"got residue 3, expected 0 to 2"}));
  EXPECT_TRUE(says(error_of([] { read_examples({}); }), {"got no files"}));
  write("ids", "zzz\n");
  EXPECT_TRUE(says(refusal(bytes, {.text = {"2"}, .label = "1", .id = "2", .exclude_ids = path("ids")}),
                   {"none of the ids in " + path("ids") + " is in the column 2"}));
}

TEST_F(ExampleFile, HasClassesInTheOrderOfTheirValuesOrOfTheOptions) {
  ExampleOptions options{.text = {"2"}, .label = "1"};
  const auto train = table("10\ta\nyes\tb\n9\tc\nno\td\n", options);
  EXPECT_EQ(classes_of(train, options), (Lines{"9", "10", "no", "yes"}));
  options.classes = {"b: 9", "a: 10 no yes"};
  EXPECT_EQ(classes_of(table("10\ta\n9\tb\n", options), options), (Lines{"b", "a"}));
}

TEST_F(ExampleFile, IsRefusedForTrainingWithOneClassOrWithoutAClass) {
  ExampleOptions options{.text = {"2"}, .label = "1"};
  options.files = {path("a.tsv")};
  const auto message = [&](const std::string& bytes) {
    return error_of([&] { classes_of(table(bytes, options), options); });
  };
  EXPECT_EQ(message("0\ta\n0\tb\n"),
            "data/examples: " + path("a.tsv") +
                ": all 2 examples have the label '0', expected at least two classes; check the "
                "column of the label (1) and the classes");
  options.classes = {"a: 0", "b: 1", "c: 2"};
  EXPECT_TRUE(says(message("0\ta\n1\tb\n"), {"no example has a label of the class 'c'"}));
}

TEST_F(ExampleFile, IsRefusedForTestingWithAClassThatTrainingHasNot) {
  const auto test = table("pos\ta\nnegg\tb\n", {.text = {"2"}, .label = "1"});
  check_classes_known(test, {"pos", "negg"});
  EXPECT_EQ(error_of([&] {
              check_classes_known(test, {"pos", "neg"});
            }),
            "data/examples: " + path("a.tsv") +
                ":2: got label 'negg', which no training example has, expected one of pos, neg (did you mean 'neg'?); "
                "leave its examples out (ignore_labels)");
}

// The numbers of Socher et al. (2013): 6,920 and 872 sentences that are not neutral.
TEST(Treebank, HasThePublishedNumbersOfSentencesThatAreNotNeutral) {
  const std::string folder = data_folder() + "sst/";
  if (!exists(folder + "train.trees.txt.gz")) GTEST_SKIP() << folder << " is not there; HEED_DATA names the folder";
  ExampleOptions options{.files = {folder + "train.trees.txt.gz"},
                         .format = "trees",
                         .classes = {"negative: 0 1", "positive: 3 4"},
                         .ignore_labels = {"2"}};
  const auto train = read_examples(options);
  EXPECT_EQ(train.size(), 6920U);
  EXPECT_EQ(std::count(train.labels.begin(), train.labels.end(), "positive"), 2322 + 1288);
  options.files = {folder + "dev.trees.txt.gz"};
  EXPECT_EQ(read_examples(options).size(), 872U);
  options.files = {folder + "train.trees.txt.gz"};
  options.phrases = true;
  const auto phrases = read_examples(options);
  const int64_t known = std::ssize(phrases.texts) + phrases.left_out.ignored_label + phrases.left_out.duplicate_phrase;
  EXPECT_EQ(known, 318582);
}

// The authors of the file held back residue 0.
TEST(News, AreSplitByTheDigestOfTitleAndDescription) {
  const std::string file = data_folder() + "agnews-7600/part.train.csv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  ExampleOptions options{.files = {file}, .text = {"2+3"}, .label = "1"};
  const auto all = read_examples(options);
  EXPECT_EQ(all.size(), 6133U);
  EXPECT_EQ(classes_of(all, options), (Lines{"1", "2", "3", "4"}));
  EXPECT_EQ(std::count(all.labels.begin(), all.labels.end(), "1"), 1566);
  options.modulo = 5;
  options.keep_residues = {1};
  EXPECT_EQ(read_examples(options).size(), 1525U);
  options.text = {"title=2", "description=3"};
  EXPECT_EQ(read_examples(options).size(), 1525U);
  options.keep_residues = {0};
  EXPECT_TRUE(says(error_of([&] { read_examples(options); }), {"6133 not among the residues"}));
}

TEST(Movies, LoseTheDocumentsOfTheRationales) {
  const std::string folder = data_folder() + "imdb-rationales/";
  if (!exists(folder + "docs.train.tsv.gz")) GTEST_SKIP() << folder << " is not there; HEED_DATA names the folder";
  ExampleOptions options{.files = {folder + "docs.train.tsv.gz"}, .text = {"3"}, .label = "2", .id = "1"};
  const auto all = read_examples(options);
  EXPECT_EQ(all.size(), 1707U);
  EXPECT_EQ(std::count(all.labels.begin(), all.labels.end(), "1"), 857);
  options.exclude_ids = folder + "rationales.test.tsv.gz";
  const auto rest = read_examples(options);
  EXPECT_EQ(rest.left_out.excluded_id, 182);
  EXPECT_EQ(rest.size(), 1707U - 182U);
  EXPECT_EQ(read_examples({.files = {folder + "docs.dev.tsv.gz"}, .text = {"3"}, .label = "2"}).size(), 245U);
}

}  // namespace
}  // namespace heed::testing
