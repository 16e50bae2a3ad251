// The Porter stemmer (Porter, 1980) as NLTK 3.8.1 has it: PorterStemmer() in its default mode, NLTK_EXTENSIONS.
//
// Rules remove or replace the suffix of a word, step by step, where what remains is long enough. Its length is the
// measure m: consonants C and vowels V make a word [C](VC)^m[V]; y after a consonant is a vowel. Differences to the
// paper: a few irregular words (dying -> die), words of one or two letters stay, ties -> tie, enjoy stays,
// bli -> ble, fulli -> ful, logi -> log, alli -> al before other rules, and a stem VC of two letters counts as short.

#pragma once

#include <string>
#include <string_view>

namespace heed {

/// The stem of a lower-case word; letters other than a, e, i, o, u and y are consonants, whatever the script.
std::string porter_stem(std::string_view word);

}  // namespace heed
