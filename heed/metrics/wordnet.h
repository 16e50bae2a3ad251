// Synonyms from the files of WordNet 3.0 (Fellbaum, 1998): words that share a synset, as NLTK's METEOR looks them up.
//
//   index.<pos>   lemma, synsets as byte offsets        <pos>.exc   irregular forms with their lemmas: geese goose
//   data.<pos>    synsets with their lemmas             <pos>: noun, verb, adj, adv
//
// A word is looked up under its lemmas in each part of speech (morphy): if it is an irregular form, the word and the
// lemmas listed for it; if not, the word and what the suffix rules make of it (churches -> church); if WordNet has none
// of these, what the rules make of the results, and so on.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

class WordNet {
 public:
  /// Reads the files of the folder; throws Error if one is missing.
  explicit WordNet(const std::string& folder);
  WordNet(const WordNet&) = delete;  // the maps refer to the texts
  WordNet& operator=(const WordNet&) = delete;

  /// Lemmas of all synsets of a lower-case word, sorted, without those of several words ("guinea_pig"). Spelled as in
  /// WordNet: "Paris". Empty if WordNet does not have the word.
  std::vector<std::string> synonyms(std::string_view word) const;

  /// The lemmas under which a word is looked up in a part of speech: "noun", "verb", "adj", "adv".
  std::vector<std::string> lemmas(std::string_view word, const std::string& part_of_speech) const;

 private:
  struct File {
    std::string path, text;
  };
  struct Dictionary {
    std::string part_of_speech;
    File index, data, exceptions;
    std::unordered_map<std::string_view, std::string_view> entries;    // lemma -> line of the index
    std::unordered_map<std::string_view, std::string_view> irregular;  // form -> its lemmas, as in the file
    size_t longest = 0;                                                // bytes of a lemma
  };
  static File file(const std::string& path);
  static void read(Dictionary& dictionary, const std::string& folder);
  static std::vector<std::string> lemmas(std::string_view word, const Dictionary& dictionary);
  static void add_synonyms(const std::string& lemma, const Dictionary& dictionary, std::vector<std::string>& all);

  std::array<Dictionary, 4> dictionaries_;
};

/// The folder of WordNet's files: $WNSEARCHDIR, WordNet's own variable, or the distribution's /usr/share/wordnet
/// (package wordnet-base); nothing if that folder does not exist. A folder that is named but absent is an Error.
std::optional<std::string> wordnet_folder();

}  // namespace heed
