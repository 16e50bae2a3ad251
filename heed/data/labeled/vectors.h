// Reads pretrained word vectors in the text format of word2vec and GloVe, plain or gzip: a word and its numbers on each
// line, separated by blanks. word2vec writes a first line with the number of words and of dimensions; GloVe does not.
//
// Only the words that are asked for are kept. Their values are checked, and of the others how many there are; an
// Error names file and line.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed {

struct WordVectors {
  int64_t dim = 0;
  std::vector<float> values;  // [rows, dim]; zeros in rows that have no vector
  std::vector<bool> found;    // [rows]
  int64_t count_found = 0;
};

/// rows: the row of each word, 0 or more, distinct. The first vector of a word counts. An Error if no word is found.
WordVectors read_word_vectors(const std::string& file, const std::unordered_map<std::string, int64_t>& rows);

}  // namespace heed
