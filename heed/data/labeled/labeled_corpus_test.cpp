#include "heed/data/labeled/labeled_corpus.h"

#include <algorithm>
#include <set>

#include "heed/base/recipe_keys.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"
#include "heed/data/tokenizer/spec.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

LabeledCorpus corpus_of(const std::string& data) {
  const Settings recipe = parse_recipe("data: " + data, "test");
  const LabeledOptions options = read_labeled_options(recipe.at("data"));
  recipe.refuse_unread();
  return read_labeled_corpus(options);
}

std::string refusal(const std::string& data) {
  return error_of([&] { corpus_of(data); });
}

class LabeledFiles : public FolderTest {
 protected:
  LabeledFiles() {
    write("a.tsv", "1\tGood food\tpos\n2\tBad film\tneg\n3\tA very long text\tpos\n4\tPoor\tneg\n");
    write("b.tsv", "1\tFine\tpos\n5\tThe room is so bad\tneg\n");
  }
  std::string data(const std::string& more) const {
    return "{root: " + folder_ + ", train: a.tsv, dev: b.tsv, text: 2, label: 3, " + more + "}";
  }
};

Lines texts_of(const Examples& examples) {
  Lines texts;
  for (const auto& text : examples.texts) texts.push_back(text[0]);
  return texts;
}

TEST_F(LabeledFiles, AreReadBelowTheRoot) {
  const auto corpus = corpus_of(data("lowercase: true"));
  EXPECT_EQ(texts_of(corpus.train), (Lines{"good food", "bad film", "a very long text", "poor"}));
  EXPECT_EQ(corpus.dev.origins[1], path("b.tsv") + ":2");
  EXPECT_EQ(corpus.classes, (Lines{"neg", "pos"}));
  EXPECT_EQ(corpus.test.size(), 0U);
}

TEST_F(LabeledFiles, LeaveExcludedExamplesOutOfTrainingAlone) {
  write("ids", "4\n7\n");
  const auto corpus = corpus_of(data("test: a.tsv, id: 1, exclude_ids: ids"));
  EXPECT_EQ(texts_of(corpus.train), (Lines{"Good food", "Bad film", "A very long text"}));
  EXPECT_EQ(corpus.train.left_out, (LeftOut{.excluded_id = 1}));
  EXPECT_EQ(corpus.dev.size(), 2U);
  EXPECT_EQ(corpus.test.size(), 4U);
}

TEST_F(LabeledFiles, MayHaveLabelsThatAreNotClasses) {
  write("numbers.tsv", "a\t0.5\nb\t\n");
  write("other.tsv", "c\t0.75\n");
  const auto read = read_labeled_corpus(read_labeled_options(
      parse_recipe("data: {root: " + folder_ + ", train: numbers.tsv, dev: other.tsv, text: 1, label: 2}", "toy")
          .at("data"),
      /*one_class=*/false));
  EXPECT_EQ(read.train.labels, (Lines{"0.5", ""}));
  EXPECT_EQ(read.dev.labels, (Lines{"0.75"}));
  EXPECT_TRUE(read.classes.empty());
}

// md5 of the text modulo 3, by Python's hashlib: d and k 0, a and b 1, f and g 2.
TEST_F(LabeledFiles, FallIntoThreePartsThatHaveNoExampleInCommon) {
  write("all", "a\t0\nd\t1\nf\t0\nk\t0\ng\t1\nb\t1\n");
  const auto corpus = corpus_of("{root: " + folder_ +
                                ", train: all, text: 1, label: 2, split: {modulo: 3, dev: 1, test: 2}, "
                                "classes: [\"no: 0\", \"yes: 1\"]}");
  EXPECT_EQ(joined(texts_of(corpus.train)) + "|" + joined(texts_of(corpus.dev)) + "|" + joined(texts_of(corpus.test)),
            "d, k|a, b|f, g");
  EXPECT_EQ(corpus.classes, (Lines{"no", "yes"}));
}

TEST_F(LabeledFiles, OfTreesHavePhrasesInTrainingAlone) {
  write("trees", "(1 (0 big) (1 dog))\n(0 (1 a) (0 cat))\n");
  const auto corpus = corpus_of("{root: " + folder_ + ", train: trees, dev: trees, format: trees, phrases: true}");
  EXPECT_EQ(corpus.train.size(), 6U);
  EXPECT_EQ(corpus.dev.size(), 2U);
  EXPECT_TRUE(says(refusal("{root: " + folder_ + ", train: trees, dev: trees, format: trees, label: 2}"),
                   {"unknown key data.label"}));
}

TEST_F(LabeledFiles, AreRefusedByTheKeyThatIsWrong) {
  EXPECT_EQ(refusal("{}"), "recipe: data.train is missing, expected one or more files, or the word reviews");
  EXPECT_TRUE(says(refusal("{train: revews}"), {"data.train has 'revews' (did you mean 'reviews'?), but there is no"}));
  EXPECT_TRUE(says(refusal("{root: " + folder_ + ", train: a.tsv}"), {"data.dev is missing"}));
  EXPECT_TRUE(
      says(refusal(data("classes: [\"x: pos\"]")), {"data.classes is invalid", "alone, expected at least two"}));
  EXPECT_TRUE(says(refusal("{root: " + folder_ + ", train: a.tsv, dev: b.tsv, text: [a+]}"),
                   {"data.text is invalid", "got column 'a+'"}));
  EXPECT_TRUE(says(refusal(data("exclude_ids: ids")), {"data.exclude_ids is 'ids' without data.id"}));
  EXPECT_TRUE(says(refusal(data("phrases: true")), {"data.phrases"}));
  EXPECT_TRUE(says(refusal(data("header: maybe")), {"data.header", "maybe"}));
}

TEST_F(LabeledFiles, AreRefusedWithAClassThatTrainingHasNot) {
  write("b.tsv", "1\tFine\tpos\n5\tBad\tnegg\n");
  EXPECT_TRUE(says(refusal(data("")), {path("b.tsv") + ":2: got label 'negg', which no training example has"}));
  write("a.tsv", "1\tGood\tpos\n");
  EXPECT_TRUE(says(refusal(data("")), {path("a.tsv") + ": all 1 examples have the label 'pos'"}));
}

TEST(LabeledCorpus, OfReviewsHasRelevantWords) {
  const auto corpus =
      corpus_of("{train: reviews, lowercase: true, sentences: rule, reviews: {train: 30, dev: 4, test: 6}}");
  EXPECT_EQ(corpus.train.size(), 30U);
  EXPECT_EQ(corpus.test.relevant.size(), 6U);
  EXPECT_EQ(corpus.classes, (Lines{"negative", "positive"}));
  EXPECT_EQ(corpus.dev.origins[1], "built-in review 2 of dev");
  for (size_t i = 0; i < corpus.train.size(); ++i) {
    const std::string& text = corpus.train.texts[i][0];
    EXPECT_EQ(whitespace_words(text).size(), corpus.train.relevant[i].size());
    EXPECT_EQ(std::count(text.begin(), text.end(), '\t') + 1, std::count(text.begin(), text.end(), '.')) << text;
  }
}

TEST(LabeledCorpus, ListsEachOfItsKeysOnce) {
  for (const auto& section : RecipeSection::all()) {
    std::set<std::string> names;
    for (const auto& key : section.keys) EXPECT_TRUE(names.insert(key.name).second) << section.path << '.' << key.name;
    const bool own = section.path == "data" && section.task == "classify";
    EXPECT_EQ(names.count("ignore_labels"), own ? 1U : 0U) << section.path;
  }
}

// Socher et al. (2013): 6,920 and 872.
TEST(LabeledCorpus, OfTheTreebankHasTwoClasses) {
  const std::string folder = data_folder() + "sst";
  if (!exists(folder)) GTEST_SKIP() << folder << " is not there; HEED_DATA names the folder of data";
  const auto corpus = corpus_of("{root: " + folder +
                                ", train: train.trees.txt.gz, dev: dev.trees.txt.gz, format: trees, ignore_labels: 2, "
                                "classes: [\"negative: 0 1\", \"positive: 3 4\"]}");
  EXPECT_EQ(corpus.train.size(), 6920U);
  EXPECT_EQ(corpus.dev.size(), 872U);
  EXPECT_EQ(corpus.train.left_out.ignored_label, 1624);
}

}  // namespace
}  // namespace heed::testing
