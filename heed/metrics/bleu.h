// BLEU (Papineni et al., 2002), equal to sacreBLEU 2 (Post, 2018) in every digit.
//
//   BLEU = BP exp(mean_n log p_n),   n = 1 .. 4,   BP = exp(1 - r / c) where c < r, else 1
//
// p_n: clipped n-gram precision over the whole corpus; c: length of the hypotheses in words; r: length of the
// references closest to them in length, the shorter one in a tie.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

inline constexpr size_t kBleuOrder = 4;

enum class Smoothing {
  none,   // if any p_n is 0, the score is 0
  floor,  // 0 matches count as `smooth_value` (default 0.1)
  add_k,  // adds `smooth_value` (default 1) to matches and totals, for n > 1
  exp     // the k-th p_n of 0 becomes 1 / (2^k total)
};
/// Accepts "none", "floor", "add-k", "exp"; any other name is an Error.
Smoothing parse_smoothing(const std::string& word);

struct BleuOptions {
  std::string tokenizer = "13a";  // one of bleu_tokenizers()
  bool lowercase = false;
  Smoothing smoothing = Smoothing::exp;
  std::optional<double> smooth_value{};
  bool effective_order = false;  // skip orders n without n-grams in the hypotheses: for single sentences
};

/// Sufficient statistics of BLEU; those of a corpus are the sum over its sentences.
struct BleuCounts {
  int64_t hypothesis_length = 0, reference_length = 0;
  std::array<int64_t, kBleuOrder> matches{}, totals{};
  BleuCounts& operator+=(const BleuCounts& other);
};

struct Bleu {
  double score = 0;                             // 0 to 100, as are the precisions
  std::array<double, kBleuOrder> precisions{};  // smoothed
  double brevity_penalty = 1;
  BleuCounts counts;
};

using Sentences = std::vector<std::string>;

/// Counts of one hypothesis against its references.
BleuCounts bleu_counts(const std::string& hypothesis, const Sentences& references, const BleuOptions& options = {});
Bleu bleu_of(const BleuCounts& counts, const BleuOptions& options = {});

/// Corpus BLEU. references: at least one list, each as long as `hypotheses`.
Bleu bleu(const Sentences& hypotheses, const std::vector<Sentences>& references, const BleuOptions& options = {});
/// BLEU of one sentence, with effective_order = true.
Bleu sentence_bleu(const std::string& hypothesis, const Sentences& references, BleuOptions options = {});

/// Signature in sacreBLEU's form: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-0.1.0"
std::string signature(const BleuOptions& options, size_t references = 1);
/// "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"
std::string details(const Bleu& bleu);

}  // namespace heed
