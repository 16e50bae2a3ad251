#include "heed/data/grammar.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "heed/base/check.h"
#include "heed/data/grammar_words.h"

namespace heed {
namespace {

using namespace grammar;

constexpr int64_t kShortest = 2, kLongest = 30;  // English words
constexpr int64_t kMaxClauses = 4, kMaxRichness = 70;

/// splitmix64 (Steele, Lea & Flood, 2014): the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  int64_t below(int64_t end) {  // end at most 2^31
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    return static_cast<int64_t>((z >> 32) * static_cast<uint64_t>(end) >> 32);
  }
  bool chance(int64_t percent) { return below(100) < percent; }

  template <typename T, size_t n>
  const T& choose(const std::array<T, n>& all) {
    return all[static_cast<size_t>(below(n))];
  }

 private:
  uint64_t state_;
};

/// The English word that a Chinese word is linked to.
struct Origin {
  int64_t at = -1;  // -1: none
  bool sure = true;
};
struct ChineseWord {
  std::string_view word;
  std::array<Origin, 3> from;
};
using Chinese = std::vector<ChineseWord>;

Chinese sure(std::string_view word, int64_t at) {
  return {{word, {Origin{at}}}};
}
Chinese possible(std::string_view word, int64_t at, int64_t or_at, int64_t or_else = -1) {
  return {{word, {Origin{at, false}, Origin{or_at, false}, Origin{or_else, false}}}};
}
/// 的 that connects two words, for the English word between them.
Chinese joining(int64_t at, const Chinese& what) {
  return {{"的", {Origin{at}, Origin{what[0].from[0].at, false}}}};
}
int64_t origin(const ChineseWord& word) {
  return word.from[0].at;
}

Chinese in_order(std::initializer_list<Chinese> pieces) {
  Chinese all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

struct Phrase {
  Chinese chinese;
  bool plural = false;
};

/// Generates one sentence. Every method appends its English words and returns the Chinese ones, which the caller puts
/// in order.
class Writer {
 public:
  /// richness: probability of an optional part of a clause, in percent.
  Writer(Random& random, int64_t richness) : random_(random), richness_(richness) {}

  Chinese sentence(int64_t clauses) {
    if (clauses == 1 && random_.chance(10)) return caption();
    if (clauses == 1 && random_.chance(15)) return question();
    Chinese all = clause();
    for (int64_t i = 1; i < clauses; ++i) {
      const auto joint = say(random_.choose(kJoints));
      all = in_order({all, joint, clause()});
    }
    return all;
  }

  const std::vector<std::string_view>& english() const { return english_; }

 private:
  bool maybe() { return random_.chance(richness_); }

  int64_t write(std::string_view word) {
    english_.push_back(word);
    return static_cast<int64_t>(english_.size()) - 1;
  }

  Chinese say(const Word& word) { return sure(word.chinese, write(word.english)); }

  Chinese say(const Verb& verb, bool third) { return sure(verb.chinese, write(third ? verb.third : verb.plain)); }

  /// A noun phrase alone, as in a caption.
  Chinese caption() {
    if (random_.chance(25)) return landmark();
    return noun_phrase(random_.chance(70)).chinese;
  }

  /// Nanjing Yangtze River Bridge: 南京市 长江 大桥, Paris Bridge: 巴黎 大桥, Yangtze River: 长江
  Chinese landmark() {
    const int64_t kind = random_.below(5);
    if (kind == 0) return yangtze();
    const auto where = kind < 3 ? say(random_.choose(kYangtzeCities)) : named(random_.choose(kCities));
    const auto river = kind < 3 ? yangtze() : Chinese{};
    return in_order({where, river, sure("大桥", write("Bridge"))});
  }

  Chinese yangtze() { return named({"Yangtze River", "长江"}); }

  /// loves China: 爱 中国, loves the Nanjing Yangtze River Bridge: 爱 南京市 长江 大桥
  Chinese sightseeing(bool third) {
    const auto verb = say(random_.choose(kVerbsOnSights), third);
    if (random_.chance(50)) return in_order({verb, city_or_country()});
    write("the");
    return in_order({verb, landmark()});
  }

  /// does Tom chase Jerry: 汤姆 追逐 杰瑞 吗
  Chinese question() {
    const int64_t at = write("does");
    const auto who = subject();
    if (who.plural) english_[static_cast<size_t>(at)] = "do";
    return in_order({predicate(who.chinese, {}, /*third=*/false), sure("吗", at)});
  }

  Chinese clause() {
    const bool timed = maybe(), early = timed && random_.chance(50);
    const auto first = early ? say(random_.choose(kTimes)) : Chinese{};
    const auto who = subject();
    bool third = !who.plural;
    const auto before_verb = maybe() ? auxiliary(third) : Chinese{};
    return in_order({first, predicate(who.chinese, before_verb, third, timed && !early)});
  }

  /// does not, will, or an adverb; the verb after does and will has its plain form.
  Chinese auxiliary(bool& third) {
    const int64_t kind = random_.below(4);
    if (kind >= 2) return say(random_.choose(kFrequencies));
    if (kind == 1) {
      third = false;
      return sure("会", write("will"));
    }
    const int64_t does = write(third ? "does" : "do"), no = write("not");
    third = false;
    return {{"不", {Origin{no}, Origin{does, false}}}};
  }

  const Verb& transitive(bool on_the_living) {
    return on_the_living && random_.chance(40) ? random_.choose(kVerbsOnTheLiving) : random_.choose(kVerbsOnAnything);
  }

  /// Completes a clause: verb, object and adverbials, joined with the subject and the words before the verb.
  Chinese predicate(const Chinese& who, const Chinese& before_verb, bool third, bool timed = false) {
    const int64_t kind = random_.below(10);
    Chinese act;
    if (kind < 3) {
      act = say(random_.choose(kIntransitive), third);
    } else if (kind < 9 && random_.chance(15)) {
      act = sightseeing(third);
    } else if (kind < 9) {
      const bool alive = random_.chance(70);
      const auto verb = say(transitive(alive), third);
      act = in_order({verb, noun_phrase(alive).chinese});
    } else {
      act = giving(third);
    }
    const auto how = maybe() ? say(random_.choose(kManners)) : Chinese{};
    const auto where = maybe() ? location() : Chinese{};
    const auto when = timed ? say(random_.choose(kTimes)) : Chinese{};
    return in_order({who, when, before_verb, where, how, act});
  }

  /// gives the book to Mary: 把 书 送给 玛丽
  Chinese giving(bool third) {
    auto verb = say(random_.choose(kGiving), third);
    const auto what = noun_phrase(/*alive=*/false).chinese;
    const int64_t to = write("to");
    verb[0].from[1] = {to, false};
    const auto whom = name();
    return in_order({possible("把", origin(verb[0]), to, origin(what[0])), what, verb, whom});
  }

  /// behind the school: 在 学校 后面, in Paris: 在 巴黎
  Chinese location() {
    if (random_.chance(35)) {
      auto in = sure("在", write("in"));
      const auto where = city_or_country();
      in[0].from[1] = {origin(where[0]), false};
      return in_order({in, where});
    }
    const auto side = say(random_.choose(kSides));
    write("the");
    const auto noun = say(random_.choose(kLocations));
    return in_order({possible("在", origin(side[0]), origin(noun[0])), noun, side});
  }

  Chinese city_or_country() { return named(random_.chance(50) ? random_.choose(kCountries) : random_.choose(kCities)); }

  /// A name of one English word or two: New York, 纽约.
  Chinese named(const Word& name) {
    const size_t space = name.english.find(' ');
    const Origin first{write(name.english.substr(0, space))};
    if (space == std::string_view::npos) return {{name.chinese, {first}}};
    return {{name.chinese, {first, Origin{write(name.english.substr(space + 1))}}}};
  }

  /// Uncle Sam: 山姆 叔叔
  Chinese name() {
    const bool man = random_.chance(60);
    const auto title = !maybe() ? Chinese{} : say(random_.choose(man ? kTitlesOfMen : kTitlesOfWomen));
    const Word* who = last_name_;
    while (who == last_name_) who = man ? &random_.choose(kMen) : &random_.choose(kWomen);  // not "Tom chases Tom"
    last_name_ = who;
    return in_order({say(*who), title});
  }

  /// Only two names may be joined by "and", so that "and" after a verb always begins a clause.
  Phrase subject() {
    if (random_.chance(12)) {
      const auto& who = random_.choose(kPronouns);
      return {sure(who.chinese, write(who.english)), who.plural};
    }
    if (!random_.chance(15) || !maybe()) return noun_phrase(/*alive=*/true);
    const auto first = name();
    const int64_t also = write("and");
    return {in_order({first, sure("和", also), name()}), /*plural=*/true};
  }

  Phrase noun_phrase(bool alive) {
    if (alive && random_.chance(40)) return {name()};
    const int64_t kind = random_.below(10);
    if (kind < 2) return {owned(alive)};
    if (kind < 5) return with_determiner({"the", "", false, false}, alive);
    return with_determiner(random_.choose(kDeterminers), alive);
  }

  /// my cat: 我的 猫, Tom 's cat: 汤姆 的 猫
  Chinese owned(bool alive) {
    if (!maybe()) {
      const auto who = say(random_.choose(kOwners));
      return in_order({who, described(alive, /*plural=*/false).first});
    }
    const auto who = name();
    const int64_t of = write("'s");
    const auto what = described(alive, /*plural=*/false).first;
    return in_order({who, joining(of, what), what});
  }

  /// two cats that see Tom: 看见 汤姆 的 两 只 猫
  Phrase with_determiner(const Determiner& which, bool alive) {
    const int64_t at = write(which.english);
    const auto [what, noun] = described(alive, which.plural);
    const auto next = static_cast<size_t>(at) + 1;
    if (which.english == "a" && std::string_view("aeiou").find(english_[next][0]) != std::string_view::npos)
      english_[next - 1] = "an";
    Chinese number;
    if (!which.chinese.empty()) number = sure(which.chinese, at);
    if (which.measured)
      number = in_order({number, possible(noun.measure, at, origin(what.back()), what.size() > 1 ? at + 1 : -1)});
    const auto whole = in_order({number, what});
    const bool more = !inside_ && maybe() && random_.chance(60);
    return {more ? in_order({relative_clause(alive, which.plural, whole), whole}) : whole, which.plural};
  }

  const Word& long_adjective(bool alive) {
    return alive ? random_.choose(kLivingAdjectives) : random_.choose(kThingAdjectives);
  }

  /// big cat: 大 猫, clever cat: 聪明 的 猫
  std::pair<Chinese, Noun> described(bool alive, bool plural) {
    const bool adjective = maybe(), brief = random_.chance(50);
    auto like = adjective ? say(brief ? random_.choose(kShortAdjectives) : long_adjective(alive)) : Chinese{};
    const Noun noun = alive ? random_.choose(kAnimate) : random_.choose(kThings);
    const int64_t at = write(plural ? noun.many : noun.one);
    if (adjective && !brief) like = in_order({like, possible("的", at - 1, at)});
    return {in_order({like, sure(noun.chinese, at)}), noun};
  }

  /// that sees Tom: 看见 汤姆 的, that Tom sees: 汤姆 看见 的, before `whom`. It contains no other clause.
  Chinese relative_clause(bool alive, bool plural, const Chinese& whom) {
    inside_ = true;
    const auto of = joining(write("that"), whom);
    Chinese what;
    if (!alive || random_.chance(30)) {
      const auto who = name();
      what = in_order({who, say(transitive(alive), /*third=*/true)});
    } else {
      const bool living = random_.chance(70);
      const auto verb = say(transitive(living), !plural);
      what = in_order({verb, noun_phrase(living).chinese});
    }
    inside_ = false;
    return in_order({what, of});
  }

  Random& random_;
  int64_t richness_;
  const Word* last_name_ = nullptr;
  bool inside_ = false;  // inside a relative clause
  std::vector<std::string_view> english_;
};

GrammarPair pair_of(const std::vector<std::string_view>& english, const Chinese& chinese) {
  GrammarPair pair;
  for (const auto& word : english) pair.source.append(pair.source.empty() ? "" : " ").append(word);
  for (size_t i = 0; i < chinese.size(); ++i) {
    pair.target.append(pair.target.empty() ? "" : " ").append(chinese[i].word);
    for (const auto& from : chinese[i].from)
      if (from.at >= 0) pair.links.push_back({from.at, static_cast<int64_t>(i), from.sure});
  }
  return pair;
}

/// A stream of distinct sentences. The length of each is drawn first; sentences of other lengths that are generated in
/// the process are queued.
class Stream {
 public:
  explicit Stream(uint64_t seed) : random_(seed), waiting_(kLongest + 1) {}

  GrammarPair next() {
    for (;;) {
      const int64_t length = kShortest + random_.below(kLongest - kShortest + 1);
      auto& ready = waiting_[static_cast<size_t>(length)];
      while (ready.empty()) write(length);
      auto pair = std::move(ready.back());
      ready.pop_back();
      if (seen_.insert(pair.source).second) return pair;
    }
  }

 private:
  /// Generates a sentence of about that length: more and richer clauses make it longer.
  void write(int64_t wanted) {
    constexpr size_t kMaxWaiting = 100;
    const int64_t clauses = 1 + random_.below(std::min(kMaxClauses, (wanted + 4) / 5));
    Writer writer(random_, random_.below(std::min(kMaxRichness, 8 * wanted)));
    const auto chinese = writer.sentence(clauses);
    const size_t length = writer.english().size();
    if (length >= waiting_.size() || waiting_[length].size() == kMaxWaiting) return;
    waiting_[length].push_back(pair_of(writer.english(), chinese));
  }

  Random random_;
  std::vector<std::vector<GrammarPair>> waiting_;  // by length
  std::unordered_set<std::string> seen_;
};

/// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return hash;
}

}  // namespace

std::vector<GrammarPair> grammar_pairs(uint64_t seed, int64_t count) {
  check(count >= 0, "data/grammar: got ", count, " pairs, expected 0 or more");
  Stream stream(seed);
  std::vector<GrammarPair> pairs;
  pairs.reserve(static_cast<size_t>(count));
  while (std::ssize(pairs) < count) pairs.push_back(stream.next());
  return pairs;
}

GrammarSet grammar_set_of(const std::string& source) {
  constexpr uint64_t kShares = 20, kDev = 5, kTest = 6;  // 6: "Tom chases Jerry"
  const uint64_t share = hash_of(source) % kShares;
  return share == kDev ? GrammarSet::dev : share == kTest ? GrammarSet::test : GrammarSet::train;
}

GrammarSplit grammar_split(uint64_t seed, int64_t train, int64_t dev, int64_t test) {
  check(train >= 0 && dev >= 0 && test >= 0, "data/grammar: got ", train, ", ", dev, " and ", test,
        " pairs, expected 0 or more");
  Stream stream(seed);
  GrammarSplit split;
  while (std::ssize(split.train) < train || std::ssize(split.dev) < dev || std::ssize(split.test) < test) {
    auto pair = stream.next();
    const auto set = grammar_set_of(pair.source);
    auto& pairs = set == GrammarSet::train ? split.train : set == GrammarSet::dev ? split.dev : split.test;
    const int64_t wanted = set == GrammarSet::train ? train : set == GrammarSet::dev ? dev : test;
    if (std::ssize(pairs) < wanted) pairs.push_back(std::move(pair));
  }
  return split;
}

}  // namespace heed
