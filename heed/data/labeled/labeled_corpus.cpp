#include "heed/data/labeled/labeled_corpus.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/recipe_keys.h"
#include "heed/data/file.h"
#include "heed/data/labeled/label_column.h"
#include "heed/data/labeled/label_map.h"
#include "heed/data/labeled/reviews.h"
#include "heed/data/labeled/text_columns.h"

namespace heed {
namespace {

// Which keys are read depends on data.train, data.split.modulo and data.format: the others are refused as unknown.
const RecipeTable<LabeledOptions> train_keys{
    {"root", &LabeledOptions::root, "folder that the files below are relative to", {.default_text = "the current one"}},
    {"train",
     &LabeledOptions::train,
     "one or more files, gzip or plain: CSV, TSV or trees; or `reviews`: built-in reviews",
     {.default_text = "required"}}};

const RecipeTable<LabeledOptions> judged_keys{
    {"dev", &LabeledOptions::dev, "files of the development set, as `train`", {.default_text = "required"}},
    {"test", &LabeledOptions::test, "files of the test set, as `train`", {.default_text = "none"}}};

const RecipeTable<ExampleOptions> text_keys{
    {"sentences",
     &ExampleOptions::sentences,
     "where sentences end, for structures that read them: `rule` by punctuation, `tab` at every TAB",
     {.choices = {"none", "rule", "tab"}}},
    {"lowercase", &ExampleOptions::lowercase, "whether the text is lowercased"}};

const RecipeTable<ExampleOptions> label_keys{
    {"format",
     &ExampleOptions::format,
     "format of the files; `auto` is `csv` or `tsv`",
     {.choices = {"auto", "csv", "tsv", "trees"}}},
    {"classes",
     &ExampleOptions::classes,
     R"(classes in order, each with its labels: `["negative: 0 1", "positive: 3 4"]`, or a label alone)",
     {.default_text = "every label is a class"}},
    {"ignore_labels",
     &ExampleOptions::ignore_labels,
     "labels whose examples are left out of all sets",
     {.default_text = "none"}}};

const RecipeTable<ExampleOptions> table_keys{
    {"header",
     &ExampleOptions::header,
     "whether the first line of a table names the columns; `auto`: if a column below is a name",
     {.choices = {"auto", "true", "false"}}},
    {"text", &ExampleOptions::text,
     "columns of the texts, by name or number from 1: `text`, `title+description`, `[left=2, right=3]`"},
    {"label", &ExampleOptions::label,
     "column of the label, by name or number from 1; `mean(3)`: the mean of the numbers in it"},
    {"id", &ExampleOptions::id, "column of an id, by name or number from 1", {.default_text = "none"}},
    {"exclude_ids",
     &ExampleOptions::exclude_ids,
     "file whose first column has the ids of examples that are left out of training",
     {.default_text = "none"}}};

const RecipeTable<LabeledOptions> rationale_keys{
    {"train_rationales",
     &LabeledOptions::train_rationales,
     "weights of the words of training texts, such as 0 1 1, for supervised attention (`train.supervision`): a column "
     "of `train`, which may be empty, or a TSV file whose first column is an id and whose last one has the weights",
     {.default_text = "none"}},
    {"dev_rationales",
     &LabeledOptions::dev_rationales,
     "the same of the development set, for the figure `attention_loss`",
     {.default_text = "none"}}};

const RecipeTable<ExampleOptions> tree_keys{
    {"phrases", &ExampleOptions::phrases, "whether every phrase of a tree is a training example, with its own label"}};

const RecipeTable<LabeledOptions> reviews_keys{
    {"seed", &LabeledOptions::reviews_seed, "seed of the reviews", {.min = 0}},
    {"train", &LabeledOptions::reviews_train, "training reviews", {.min = 2, .max = 1 << 20}},
    {"dev", &LabeledOptions::reviews_dev, "reviews of the development set", {.min = 1, .max = 1 << 16}},
    {"test", &LabeledOptions::reviews_test, "reviews of the test set", {.min = 1, .max = 1 << 16}}};

RecipeKeyList labeled_keys() {
  return all_keys({train_keys.list(), judged_keys.list(), label_keys.list(), table_keys.list(), rationale_keys.list(),
                   tree_keys.list(), text_keys.list()});
}

const RecipeSection::Entry labeled_section{{"data", 15, "The examples.", labeled_keys, "classify"}};
const RecipeSection::Entry reviews_section{
    {"data.reviews", 16, "The built-in reviews, with `data.train: reviews`.", [] { return reviews_keys.list(); }}};

void check_train(const Settings& data, const LabeledOptions& o) {
  const std::string expected = "expected one or more files, or the word reviews";
  if (o.train.empty()) data.refuse("train", "is missing, ", expected);
  if (o.is_reviews()) return;
  for (const auto& file : o.train)
    if (file != "-" && !exists(below_folder(o.root, file)))
      data.refuse("train", "has '", excerpt(file), "'", suggestion(file, {"reviews"}), ", but there is no file ",
                  excerpt(below_folder(o.root, file), 200), "; ", expected);
}

/// What a key has is checked before files are read.
template <typename Action>
void check_key(const Settings& data, const std::string& key, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    data.refuse(key, "is invalid: ", error.what());
  }
}

/// Whether rationales are in a file of their own.
bool have_a_file(const LabeledOptions& o, const std::string& rationales) {
  return !rationales.empty() && exists(below_folder(o.root, rationales));
}

/// The files of one set; `keep` are its residues.
Examples read_set(const LabeledOptions& o, const std::vector<std::string>& files, const std::vector<int64_t>& keep,
                  bool training, const std::string& rationales = "") {
  if (files.empty()) return {};
  ExampleOptions options = o.examples;
  for (const auto& file : files) options.files.push_back(below_folder(o.root, file));
  options.exclude_ids = training ? below_folder(o.root, o.examples.exclude_ids) : "";
  options.phrases = training && o.examples.phrases;
  if (o.split.modulo > 0) {
    options.modulo = o.split.modulo;
    options.keep_residues = keep;
  }
  const bool apart = have_a_file(o, rationales);
  if (!apart) options.rationales = rationales;
  Examples examples = read_examples(options);
  if (apart) join_rationales(examples, below_folder(o.root, rationales));
  return examples;
}

Examples of_reviews(const std::vector<Review>& reviews, const ExampleOptions& options, const std::string& set) {
  Examples all;
  all.columns = {"text"};
  for (const auto& review : reviews) {
    all.texts.push_back({prepared_text(review.text, options)});
    all.labels.push_back(review.label);
    all.origins.push_back("built-in review " + std::to_string(all.size()) + " of " + set);
    all.relevant.push_back(review.relevant);
    all.rationales.push_back({{review.relevant.begin(), review.relevant.end()}, all.origins.back()});
  }
  return all;
}

}  // namespace

LabeledOptions read_labeled_options(const Settings& data, bool one_class) {
  LabeledOptions o = train_keys.read(data);
  check_train(data, o);
  o.examples = text_keys.read(data);
  if (o.is_reviews() && !one_class)
    data.refuse("train", "is reviews, which have one class each, but model.output expects other labels");
  if (o.is_reviews()) return reviews_keys.read(data.at("reviews"), std::move(o));
  o.split = read_split(data);
  if (o.split.modulo > 0) {
    o.dev = o.train;
    if (!o.split.test.empty()) o.test = o.train;
  } else {
    o = judged_keys.read(data, std::move(o));
  }
  if (o.dev.empty()) data.refuse("dev", "is missing, expected files like those of data.train, or data.split");
  ExampleOptions& examples = o.examples;
  examples = label_keys.read(data, std::move(examples));
  examples.one_class = one_class;
  examples = (examples.format == "trees" ? tree_keys : table_keys).read(data, std::move(examples));
  if (examples.format != "trees") o = rationale_keys.read(data, std::move(o));
  for (const auto& [key, value] :
       {std::pair{"train_rationales", o.train_rationales}, {"dev_rationales", o.dev_rationales}})
    if (have_a_file(o, value) && examples.id.empty())
      data.refuse(key, "is the file '", excerpt(value), "' without data.id, expected the column of ids");
  check_key(data, "classes", [&] { LabelMap(examples.classes, examples.ignore_labels); });
  check_key(data, "text", [&] { read_text_columns(examples.text); });
  check_key(data, "label", [&] { read_label_column(examples.label); });
  if (!examples.exclude_ids.empty() && examples.id.empty())
    data.refuse("exclude_ids", "is '", excerpt(examples.exclude_ids), "' without data.id, expected the column of ids");
  return o;
}

LabeledCorpus read_labeled_corpus(const LabeledOptions& o) {
  if (o.is_reviews()) {
    const auto split =
        review_split(static_cast<uint64_t>(o.reviews_seed), o.reviews_train, o.reviews_dev, o.reviews_test);
    return {of_reviews(split.train, o.examples, "train"),
            of_reviews(split.dev, o.examples, "dev"),
            of_reviews(split.test, o.examples, "test"),
            {"negative", "positive"}};
  }
  LabeledCorpus corpus{read_set(o, o.train, o.split.train(), /*training=*/true, o.train_rationales),
                       read_set(o, o.dev, o.split.dev, /*training=*/false, o.dev_rationales),
                       read_set(o, o.test, o.split.test, /*training=*/false),
                       {}};
  if (!o.examples.one_class) return corpus;
  ExampleOptions options = o.examples;
  for (const auto& file : o.train) options.files.push_back(below_folder(o.root, file));
  corpus.classes = classes_of(corpus.train, options);
  check_classes_known(corpus.dev, corpus.classes);
  check_classes_known(corpus.test, corpus.classes);
  return corpus;
}

}  // namespace heed
