// Built-in reviews of films, meals and hotels, for a classifier of sentiment without a download:
//
//   We booked the pool on Friday . The lobby was not clean . Nobody enjoyed the breakfast .      negative
//
// A review has 1 to 4 sentences. A sentence has an opinion, expressed by one adjective or verb, by two adjectives, or
// by one that is negated (not, never, hardly, nobody), or it has none. The class is that of more than half of the
// opinions.
//
// The words that express opinions are known: they are relevant, a negation together with what it negates. Negations
// without an opinion (the bed was not red) are not. Since negations and opinions are in any order, the counts of words
// do not decide the class.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// Words, and the dot after each sentence, are separated by single spaces; a sentence begins with an upper-case letter.
struct Review {
  std::string text, label;     // label: "negative" or "positive"
  std::vector<bool> relevant;  // of each word
};

/// `count` distinct reviews: of each pair one is negative and one positive. The same seed gives the same reviews on
/// every machine; a smaller count gives a prefix.
std::vector<Review> reviews(uint64_t seed, int64_t count);

/// The text alone decides the set of a review, so the sets of different seeds are disjoint too: one review in ten
/// belongs to dev and one to test. Arguments: number of reviews per set; half of them are positive.
struct ReviewSplit {
  std::vector<Review> train, dev, test;
};
ReviewSplit review_split(uint64_t seed, int64_t train, int64_t dev, int64_t test);

}  // namespace heed
