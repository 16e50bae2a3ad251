// The words of the built-in reviews.

#pragma once

#include <array>
#include <string_view>

namespace heed::reviews_of {

using Word = std::string_view;

/// A verb after "I" and after "did not".
struct Verb {
  Word past, plain;
};

/// What a review is about: nouns, adjectives that fit, what guests do with it.
struct Subject {
  std::array<Word, 12> nouns;
  std::array<Word, 5> good, bad;
  std::array<Word, 4> acts;
};

constexpr std::array kSubjects{
    Subject{{"film", "movie", "plot", "acting", "ending", "music", "script", "cast", "story", "dialogue", "director",
             "camera"},
            {"gripping", "funny", "touching", "clever", "witty"},
            {"dull", "boring", "predictable", "silly", "shallow"},
            {"watched", "saw", "discussed", "rented"}},
    Subject{{"meal", "food", "soup", "fish", "dessert", "bread", "salad", "waiter", "wine", "steak", "sauce", "coffee"},
            {"delicious", "tasty", "fresh", "savory", "generous"},
            {"bland", "stale", "greasy", "cold", "salty"},
            {"ordered", "tried", "shared", "tasted"}},
    Subject{{"hotel", "room", "bed", "breakfast", "lobby", "staff", "pool", "view", "bathroom", "balcony", "garden",
             "service"},
            {"clean", "comfortable", "quiet", "cozy", "spacious"},
            {"dirty", "noisy", "shabby", "damp", "crowded"},
            {"booked", "visited", "photographed", "chose"}}};

constexpr std::array<Word, 17> kGood{"good",     "great",     "wonderful", "excellent",  "lovely",   "superb",
                                     "charming", "brilliant", "fantastic", "delightful", "pleasant", "perfect",
                                     "splendid", "nice",      "memorable", "remarkable", "amazing"};
constexpr std::array<Word, 17> kBad{"bad",   "terrible", "awful",    "horrible",  "poor",       "dreadful",
                                    "weak",  "annoying", "ugly",     "sloppy",    "unpleasant", "disappointing",
                                    "lousy", "pathetic", "mediocre", "miserable", "appalling"};
constexpr std::array kLike{Verb{"liked", "like"},     Verb{"loved", "love"},     Verb{"enjoyed", "enjoy"},
                           Verb{"praised", "praise"}, Verb{"admired", "admire"}, Verb{"adored", "adore"}};
constexpr std::array kDislike{Verb{"hated", "hate"},           Verb{"disliked", "dislike"}, Verb{"regretted", "regret"},
                              Verb{"criticized", "criticize"}, Verb{"despised", "despise"}, Verb{"loathed", "loathe"}};

constexpr std::array<Word, 4> kLinking{"was", "is", "seemed", "looked"};
constexpr std::array<Word, 5> kDegrees{"very", "really", "quite", "rather", "truly"};
constexpr std::array<Word, 12> kPeople{"wife",   "husband",  "sister", "brother", "mother",   "father",
                                       "friend", "neighbor", "uncle",  "aunt",    "daughter", "son"};
constexpr std::array<Word, 7> kDays{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array<Word, 5> kTimes{"morning", "afternoon", "evening", "summer", "winter"};
constexpr std::array<Word, 10> kNeutral{"red",     "blue",   "green", "white",  "Italian",
                                        "Spanish", "German", "local", "modern", "wooden"};
constexpr std::array<Word, 5> kTalked{"talked", "asked", "heard", "read", "wrote"};
constexpr std::array<Verb, 6> kStayed{Verb{"stayed", "stay"}, Verb{"waited", "wait"}, Verb{"walked", "walk"},
                                      Verb{"drove", "drive"}, Verb{"sat", "sit"},     Verb{"spoke", "speak"}};
constexpr std::array<Word, 10> kSights{"station", "bridge", "river", "market", "museum",
                                       "church",  "harbor", "park",  "tower",  "theater"};
constexpr std::array<Word, 8> kNumbers{"two", "three", "four", "five", "six", "seven", "eight", "nine"};
constexpr std::array<Word, 8> kThings{"guests", "tables", "people", "chairs", "windows", "children", "cars", "lamps"};

}  // namespace heed::reviews_of
