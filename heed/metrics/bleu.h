// BLEU (Papineni et al., 2002), number for number that of sacreBLEU 2 (Post, 2018).
//
//   BLEU = BP exp(mean_n log p_n),   n = 1 .. 4,   BP = exp(1 - r / c) where c < r, else 1
//
// p_n: share of the runs of n words of the hypotheses that are in a reference, each counted as often as it is there,
// over the whole corpus; c: words of the hypotheses; r: words of the references nearest to them in length, the shorter
// of two.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

inline constexpr size_t kBleuOrder = 4;

enum class Smoothing {
  none,   // a p_n of 0 makes the score 0
  floor,  // matches of 0 count as `smooth_value` (0.1)
  add_k,  // `smooth_value` (1) more matches and runs, for n > 1
  exp     // the k-th p_n of 0 is 1 / (2^k runs)
};
/// "none", "floor", "add-k", "exp"
Smoothing parse_smoothing(const std::string& word);

struct BleuOptions {
  std::string tokenizer = "13a";  // one of bleu_tokenizers()
  bool lowercase = false;
  Smoothing smoothing = Smoothing::exp;
  std::optional<double> smooth_value{};
  bool effective_order = false;  // leave out n for which the hypotheses have no runs: for single sentences
};

/// What BLEU is computed from. Corpora are sums of it.
struct BleuCounts {
  int64_t hypothesis_length = 0, reference_length = 0;
  std::array<int64_t, kBleuOrder> matches{}, totals{};
  BleuCounts& operator+=(const BleuCounts& other);
};

struct Bleu {
  double score = 0;                             // of 100, as are the precisions
  std::array<double, kBleuOrder> precisions{};  // smoothed
  double brevity_penalty = 1;
  BleuCounts counts;
};

using Sentences = std::vector<std::string>;

/// One hypothesis, and its references.
BleuCounts bleu_counts(const std::string& hypothesis, const Sentences& references, const BleuOptions& options = {});
Bleu bleu_of(const BleuCounts& counts, const BleuOptions& options = {});

/// references: one list or more, each with a sentence for every hypothesis.
Bleu bleu(const Sentences& hypotheses, const std::vector<Sentences>& references, const BleuOptions& options = {});
/// With the effective order.
Bleu sentence_bleu(const std::string& hypothesis, const Sentences& references, BleuOptions options = {});

/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:heed-0.1.0"
std::string signature(const BleuOptions& options, size_t references = 1);
/// "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"
std::string details(const Bleu& bleu);

}  // namespace heed
