// A project that uses tokenizers and metrics without torch: the BLEU of a sentence with itself, and a tokenizer by
// name.

#include <cmath>
#include <cstdio>

#include "heed/metrics.h"
#include "heed/text.h"

int main() {
  const std::vector<std::string> lines{"two angry cats chase the mouse"};
  const double score = heed::bleu(lines, {lines}, {}).score;
  const auto tokens = heed::train_tokenizer("words", lines)->encode("angry cats");
  std::printf("BLEU %.1f, expected 100; %zu tokens, expected 2\n", score, tokens.size());
  return std::abs(score - 100) < 1e-9 && tokens.size() == 2 ? 0 : 1;
}
