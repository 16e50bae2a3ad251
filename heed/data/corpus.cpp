#include "heed/data/corpus.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/recipe_keys.h"
#include "heed/data/file.h"
#include "heed/data/grammar.h"
#include "heed/data/pair_links.h"
#include "heed/data/parallel_text.h"
#include "heed/data/text_file.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {
namespace {

// Which keys are read depends on data.train and data.split.modulo: the others are refused as unknown.
const RecipeTable<CorpusOptions> corpus_keys{
    {"root", &CorpusOptions::root, "folder that the files below are relative to", {.default_text = "the current one"}},
    {"train",
     &CorpusOptions::train,
     "two files (line k translates line k), one TSV, one `source ||| target`, gzip or plain; or `grammar`: built-in "
     "sentences",
     {.default_text = "required"}},
    {"swap", &CorpusOptions::swap, "whether source and target are exchanged"}};

const RecipeTable<CorpusOptions> set_keys{
    {"dev", &CorpusOptions::dev, "files of the development set, as `train`", {.default_text = "required"}},
    {"test", &CorpusOptions::test, "files of the test set, as `train`", {.default_text = "none"}}};

const RecipeTable<CorpusOptions> text_keys{
    {"links",
     &CorpusOptions::links,
     "gold links of the test set, Pharaoh lines: results then have the alignment error. A file, or the number of a "
     "column of the set's TSV file",
     {.default_text = "none"}},
    {"dev_links", &CorpusOptions::dev_links, "gold links of the development set", {.default_text = "none"}},
    {"train_links",
     &CorpusOptions::train_links,
     "gold links of the training pairs, for supervised attention (`train.supervision`): one file for each of `train`, "
     "or for each two",
     {.default_text = "none"}},
    {"links_from_one", &CorpusOptions::links_from_one, "whether positions in links are counted from 1"},
    {"format", &CorpusOptions::format, "format of the files", {.choices = {"auto", "two", "tsv", "|||"}}},
    {"lowercase", &CorpusOptions::lowercase, "whether the text is lowercased"},
    {"unescape", &CorpusOptions::unescape, "whether `&apos;` and the like become characters"},
    {"drop_empty", &CorpusOptions::drop_empty, "whether pairs with an empty side are left out"},
    {"max_length",
     &CorpusOptions::max_length,
     "pairs with more tokens on a side are left out of training, with a message; 0: none are",
     {.min = 0, .max = 1 << 20}}};

const RecipeTable<CorpusOptions> grammar_keys{
    {"seed", &CorpusOptions::grammar_seed, "seed of the sentences", {.min = 0}},
    {"train", &CorpusOptions::grammar_train, "training sentences", {.min = 1, .max = 1 << 20}},
    {"dev", &CorpusOptions::grammar_dev, "sentences of the development set", {.min = 1, .max = 1 << 16}},
    {"test", &CorpusOptions::grammar_test, "sentences of the test set", {.min = 1, .max = 1 << 16}}};

constexpr const char* kTask = "translate";

const RecipeSection::Entry data_section{{"data", 10, "The text.",
                                         [] {
                                           return all_keys({corpus_keys.list(), set_keys.list(), text_keys.list()});
                                         },
                                         kTask}};
const RecipeSection::Entry grammar_section{{"data.grammar", 13, "The built-in sentences, with `data.train: grammar`.",
                                            [] { return grammar_keys.list(); }, kTask}};

ParallelText read_files(const CorpusOptions& o, const std::vector<std::string>& files, const std::vector<int64_t>& keep,
                        int64_t longest = 0) {
  TextOptions t;
  for (const auto& file : files) t.files.push_back(below_folder(o.root, file));
  t.format = o.format;
  t.lowercase = o.lowercase;
  t.unescape = o.unescape;
  t.swap = o.swap;
  t.drop_empty = o.drop_empty;
  t.max_length = longest;
  if (o.split.modulo > 0) {
    t.modulo = o.split.modulo;
    t.keep_residues = keep;
  }
  return read_parallel(t);
}

void add_links(TextPairs& pairs, const ParallelText& text, const CorpusOptions& o,
               const std::vector<std::string>& links) {
  if (links.empty()) return;
  PairLinks read = read_pair_links(text, links, {.root = o.root, .from_one = o.links_from_one, .swap = o.swap});
  pairs.links = std::move(read.links);
  pairs.link_origins = std::move(read.origins);
}

/// Reads dev or test: all pairs, with file and line of each.
TextPairs read_judged(const CorpusOptions& o, const std::vector<std::string>& files, const std::vector<int64_t>& keep,
                      const std::vector<std::string>& links) {
  if (files.empty()) return {};
  ParallelText text = read_files(o, files, keep);
  TextPairs pairs;
  add_links(pairs, text, o, links);
  for (size_t i = 0; i < text.size(); ++i) pairs.origins.push_back(text.where(i));
  pairs.source = std::move(text.source);
  pairs.target = std::move(text.target);
  return pairs;
}

TextPairs of_grammar(const std::vector<GrammarPair>& pairs, bool swap) {
  TextPairs all;
  for (const auto& pair : pairs) {
    all.source.push_back(swap ? pair.target : pair.source);
    all.target.push_back(swap ? pair.source : pair.target);
    all.links.push_back(swap ? swapped(pair.links) : pair.links);
    all.link_origins.push_back("built-in pair " + std::to_string(all.size()));
  }
  return all;
}

}  // namespace

CorpusOptions read_corpus_options(const Settings& data) {
  CorpusOptions o = corpus_keys.read(data);
  if (o.train.empty()) data.refuse("train", "is missing, expected one or two files, or the word grammar");
  if (o.train.size() == 1 && !o.is_grammar() && o.train[0] != "-" && !exists(below_folder(o.root, o.train[0])))
    data.refuse("train", "is '", excerpt(o.train[0]), "'", suggestion(o.train[0], {"grammar"}),
                ", but there is no file ", excerpt(below_folder(o.root, o.train[0]), 200),
                "; expected one or two files, or the word grammar");
  if (o.is_grammar()) {
    o.max_length = 0;
    return grammar_keys.read(data.at("grammar"), std::move(o));
  }
  o.split = read_split(data);
  if (o.split.modulo > 0) {
    o.dev = o.train;
    if (!o.split.test.empty()) o.test = o.train;
  } else {
    o = set_keys.read(data, std::move(o));
  }
  if (o.dev.empty()) data.refuse("dev", "is missing, expected files like those of data.train, or data.split");
  return text_keys.read(data, std::move(o));
}

Corpus read_corpus(const CorpusOptions& o) {
  if (o.is_grammar()) {
    const auto split =
        grammar_split(static_cast<uint64_t>(o.grammar_seed), o.grammar_train, o.grammar_dev, o.grammar_test);
    return {of_grammar(split.train, o.swap), of_grammar(split.dev, o.swap), of_grammar(split.test, o.swap), 0};
  }
  Corpus corpus;
  ParallelText train = read_files(o, o.train, o.split.train(), o.max_length);
  corpus.left_out = train.empty + train.too_long;
  add_links(corpus.train, train, o, o.train_links);
  corpus.train.source = std::move(train.source);
  corpus.train.target = std::move(train.target);
  corpus.dev = read_judged(o, o.dev, o.split.dev, o.dev_links);
  corpus.test = read_judged(o, o.test, o.split.test, o.links);
  return corpus;
}

}  // namespace heed
