#include "heed/data/labeled/reviews.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/base/shuffle.h"
#include "heed/data/labeled/review_words.h"

namespace heed {
namespace {

using namespace reviews_of;

constexpr uint64_t kMaxSentences = 4, kNegatedPercent = 40;

/// Writes the sentences of one review.
class ReviewWriter {
 public:
  explicit ReviewWriter(SplitMix& random) : random_(random), subject_(choose(kSubjects)) {}

  /// More than half of the opinions have the class of the review; the other sentences have none.
  Review write(bool positive) {
    const uint64_t sentences = 1 + random_.below(kMaxSentences), opinions = 1 + random_.below(sentences);
    const uint64_t against = random_.below((opinions + 1) / 2);  // fewer than half
    enum Kind { neutral, agrees, disagrees };
    std::vector<Kind> kinds(sentences, neutral);
    std::fill_n(kinds.begin(), opinions, agrees);
    std::fill_n(kinds.begin(), against, disagrees);
    shuffle(kinds, random_);
    for (const Kind kind : kinds) kind == neutral ? remark() : opinion((kind == agrees) == positive);
    review_.label = positive ? "positive" : "negative";
    return std::move(review_);
  }

 private:
  bool chance(uint64_t percent) { return random_.below(100) < percent; }

  template <typename T, size_t n>
  const T& choose(const std::array<T, n>& all) {
    return all[random_.below(n)];
  }

  void add(Word word, bool relevant = false) {
    if (!review_.text.empty()) review_.text += ' ';
    const bool first = review_.relevant.empty() || ended_;
    const size_t at = review_.text.size();
    review_.text += word;
    if (first && word[0] >= 'a') review_.text[at] = static_cast<char>(word[0] - 'a' + 'A');
    review_.relevant.push_back(relevant);
    ended_ = word == ".";
  }
  void say(std::initializer_list<Word> words) {
    for (const Word word : words) add(word);
  }
  void noun() { say({"the", choose(subject_.nouns)}); }

  Word adjective(bool good) {
    if (chance(35)) return choose(good ? subject_.good : subject_.bad);
    return choose(good ? kGood : kBad);
  }
  const Verb& verb(bool good) { return choose(good ? kLike : kDislike); }

  void person() {
    switch (random_.below(3)) {
      case 0:
        return add("I");
      case 1:
        return add("we");
      default:
        return say({"my", choose(kPeople)});
    }
  }

  /// When, before or after the rest of a sentence.
  void time() { chance(50) ? say({"on", choose(kDays)}) : say({"in", "the", choose(kTimes)}); }

  void opinion(bool positive) {
    const bool negated = chance(kNegatedPercent), word = positive != negated;  // word: as the word alone is understood
    const bool early = chance(15);
    if (early) time();
    switch (random_.below(4)) {
      case 0:
        judge_noun(word, negated);
        break;
      case 1:
        judge_by_verb(word, negated);
        break;
      case 2:
        add(negated ? "nobody" : "everybody", negated);
        add(verb(word).past, true);
        noun();
        break;
      default:
        find_noun(word, negated);
    }
    if (!early && chance(25)) time();
    add(".");
  }

  /// The soup was not fresh; the soup was really fresh; the soup was fresh and tasty.
  void judge_noun(bool word, bool negated) {
    noun();
    add(negated ? "was" : choose(kLinking));
    if (negated) return negate(), add(adjective(word), true);
    if (chance(40)) add(choose(kDegrees));
    const Word first = adjective(word), second = adjective(word);
    add(first, true);
    if (!chance(30) || first == second) return;
    add("and");
    add(second, true);
  }

  /// We did not enjoy the soup; we never enjoyed the soup; we enjoyed the soup.
  void judge_by_verb(bool word, bool negated) {
    person();
    if (negated && chance(60)) {
      add("did");
      add("not", true);
      add(verb(word).plain, true);
    } else {
      if (negated) add(chance(50) ? "never" : "hardly", true);
      add(verb(word).past, true);
    }
    noun();
  }

  /// We found the soup hardly fresh.
  void find_noun(bool word, bool negated) {
    person();
    add("found");
    noun();
    if (negated) negate();
    add(adjective(word), true);
  }

  void negate() { add(chance(50) ? "not" : "hardly", true); }

  /// A sentence without an opinion; half of them have a negation.
  void remark() {
    switch (random_.below(8)) {
      case 0:
        say({"nobody", choose(kTalked), "about"});
        noun();
        break;
      case 1:
        person();
        say({"did", "not", choose(kStayed).plain, "near", "the", choose(kSights)});
        break;
      case 2:
        noun();
        say({"was", "not", choose(kNeutral)});
        break;
      case 3:
        person();
        say({"never", choose(kTalked), "about"});
        noun();
        break;
      case 4:
        person();
        add(choose(subject_.acts));
        noun();
        break;
      case 5:
        person();
        say({choose(kStayed).past, "near", "the", choose(kSights)});
        break;
      case 6:
        noun();
        say({"was", choose(kNeutral)});
        break;
      default:
        say({"there", "were", choose(kNumbers), choose(kThings)});
    }
    if (chance(50)) time();
    add(".");
  }

  SplitMix& random_;
  const Subject& subject_;
  Review review_;
  bool ended_ = false;  // the last word is the dot of a sentence
};

/// A stream of distinct reviews; every second one has the other class than the one before.
class ReviewStream {
 public:
  explicit ReviewStream(uint64_t seed) : random_(seed) {}

  Review next() {
    const bool positive = even_ ? random_.below(2) == 1 : !last_;
    even_ = !even_;
    last_ = positive;
    for (;;) {
      Review review = ReviewWriter(random_).write(positive);
      if (seen_.insert(review.text).second) return review;
    }
  }

 private:
  SplitMix random_;
  bool even_ = true, last_ = false;
  std::unordered_set<std::string> seen_;
};

/// Collects the reviews of one set, half of them positive.
class ReviewSet {
 public:
  explicit ReviewSet(int64_t wanted) : wanted_{wanted / 2, wanted - wanted / 2} {}

  bool is_full() const { return wanted_[0] + wanted_[1] == 0; }
  void add(const Review& review) {
    int64_t& wanted = wanted_[review.label == "positive" ? 1 : 0];
    if (wanted == 0) return;
    --wanted;
    reviews_.push_back(review);
  }
  std::vector<Review> take() { return std::move(reviews_); }

 private:
  std::array<int64_t, 2> wanted_;
  std::vector<Review> reviews_;
};

}  // namespace

std::vector<Review> reviews(uint64_t seed, int64_t count) {
  check(count >= 0, "data/reviews: got ", count, " reviews, expected 0 or more");
  ReviewStream stream(seed);
  std::vector<Review> all;
  while (std::ssize(all) < count) all.push_back(stream.next());
  return all;
}

ReviewSplit review_split(uint64_t seed, int64_t train, int64_t dev, int64_t test) {
  check(train >= 0 && dev >= 0 && test >= 0, "data/reviews: got ", train, ", ", dev, " and ", test,
        " reviews, expected 0 or more");
  constexpr uint64_t kShares = 10, kDev = 0, kTest = 1;
  ReviewStream stream(seed);
  ReviewSet training(train), development(dev), testing(test);
  while (!training.is_full() || !development.is_full() || !testing.is_full()) {
    const Review review = stream.next();
    const uint64_t share = md5_modulo(review.text, kShares);
    ReviewSet& set = share == kDev ? development : share == kTest ? testing : training;
    set.add(review);
  }
  return {training.take(), development.take(), testing.take()};
}

}  // namespace heed
