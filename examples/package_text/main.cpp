// A project that uses Heed's metrics and has no torch: BLEU of a sentence with itself, and with one word of five wrong.
//
//   4/5 unigrams, 3/4 bigrams, 2/3 trigrams, 1/2 4-grams: 100 (4/5 3/4 2/3 1/2)^(1/4) = 100 (1/5)^(1/4)

#include <cmath>
#include <cstdio>

#include "heed/metrics/bleu.h"

int main() {
  const double same = heed::bleu({"the cat sees a mouse"}, {{"the cat sees a mouse"}}).score;
  const double close = heed::bleu({"the cat sees a mouse"}, {{"the cat sees a bird"}}).score;
  const double expected = 100 * std::pow(0.2, 0.25);
  std::printf("BLEU %.4f, expected 100; %.4f, expected %.4f\n", same, close, expected);
  return std::abs(same - 100) < 1e-9 && std::abs(close - expected) < 1e-9 ? 0 : 1;
}
