// The parallel text for training and evaluating a translator, as specified in a recipe.
//
//   data:
//     root: ../data/multi30k            folder of the files below
//     train: [train.en.gz, train.de.gz]   one file: TSV or source ||| target; or the word `grammar`: built-in sentences
//     dev: [...]    test: [...]    links: gold.txt (of the test set, Pharaoh; links_from_one: true)
//     split: {modulo: 20, dev: [2], test: [1]}   dev and test out of train's file, by the md5 of the source
//     train_links, dev_links            gold links of the other sets
//     format, lowercase, unescape, swap, max_length, drop_empty   as in TextOptions (parallel_text.h)

#pragma once

#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/base/settings.h"
#include "heed/data/split.h"

namespace heed {

/// Sentence pairs; all non-empty members have the same size.
struct TextPairs {
  std::vector<std::string> source, target;
  std::vector<Links> links{};               // gold links of each pair, or empty
  std::vector<std::string> origins{};       // dev and test only: "dev.en:17 and dev.de:17"
  std::vector<std::string> link_origins{};  // of `links`: "gold.txt:17"
  size_t size() const { return source.size(); }
};

/// The keys below `data`, by the same names. `root`: folder of relative paths; `grammar_*`: the built-in grammar.
struct CorpusOptions {
  std::string root, format = "auto";
  std::vector<std::string> train, dev, test;
  std::vector<std::string> links, dev_links, train_links;  // files, or the number of a column (pair_links.h)
  bool links_from_one = false;                             // word numbers in these files start at 1
  bool lowercase = false, unescape = false, swap = false, drop_empty = false;
  int64_t max_length = 100;
  Split split{};
  int64_t grammar_seed = 1, grammar_train = 16000, grammar_dev = 200, grammar_test = 400;

  bool is_grammar() const { return train.size() == 1 && train[0] == "grammar"; }
};

/// Reads the recipe below `data`, but no files; an invalid key or value is an Error.
CorpusOptions read_corpus_options(const Settings& data);

struct Corpus {
  TextPairs train, dev, test;
  int64_t left_out = 0;  // training pairs with an empty side or more words than data.max_length
};

/// Reads and checks all files. test may be empty. Training pairs with more than `max_length` words on a side are left
/// out here, before a tokenizer is trained: they have at least as many tokens. Pairs with more than `max_length` tokens
/// are left out of the batches (BatchOptions::max_length).
Corpus read_corpus(const CorpusOptions& options);

}  // namespace heed
