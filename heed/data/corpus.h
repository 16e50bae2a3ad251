// The sentences a translator learns from and is judged by, as a recipe names them.
//
//   data:
//     root: ../data/multi30k            files below are relative to it
//     train: [train.en.gz, train.de.gz]   one file: TSV or source ||| target; or the word `grammar`: built-in sentences
//     dev: [...]    test: [...]    links: gold.txt (of the test set, Pharaoh; links_from_one: true)
//     split: {modulo: 20, dev: [2], test: [1]}   dev and test out of train's file, by the md5 of the source
//     format, lower, unescape, swap, longest, drop_empty

#pragma once

#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/base/settings.h"

namespace heed {

struct TextPairs {
  std::vector<std::string> source, target;
  std::vector<Links> links{};          // gold, for each pair; or none at all
  std::vector<std::string> origins{};  // of dev and test: "dev.en:17 and dev.de:17"
  size_t size() const { return source.size(); }
};

struct CorpusOptions {
  std::string root, format;
  std::vector<std::string> train, dev, test;
  std::string links;
  bool links_from_one = false;  // words of the links are counted from 1
  bool lowercase = false, unescape = false, swap = false, drop_empty = false;
  int64_t max_length = 0, modulo = 0;
  std::vector<int64_t> dev_residues, test_residues;
  uint64_t grammar_seed = 1;
  int64_t grammar_train = 0, grammar_dev = 0, grammar_test = 0;

  bool is_grammar() const { return train.size() == 1 && train[0] == "grammar"; }
};

/// The recipe below `data`. Reads no file.
CorpusOptions read_corpus_options(const Settings& data);

struct Corpus {
  TextPairs train, dev, test;
  int64_t left_out = 0;  // pairs of the training text with an empty side, or with more words than data.max_length
};

/// Reads and checks all of it. test may be empty. Training pairs with more than `longest` words on a side are left out
/// here, before a tokenizer learns from them: they have at least as many tokens. Those with more tokens are left out of
/// the batches (BatchOptions::longest).
Corpus read_corpus(const CorpusOptions& options);

}  // namespace heed
