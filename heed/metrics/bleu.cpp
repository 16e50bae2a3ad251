#include "heed/metrics/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "heed/base/nearest.h"
#include "heed/metrics/bleu_tokenizer.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

const std::vector<std::string> kSmoothings{"none", "floor", "add-k", "exp"};

std::vector<std::string> prepared(const std::string& line, const BleuOptions& options) {
  const auto tokenizer = bleu_tokenizer(options.tokenizer);
  return options.lowercase ? tokenizer(lower_cased(line)) : tokenizer(line);
}

/// The length closest to `length`, the shorter one in a tie.
int64_t closest(const std::vector<int64_t>& lengths, int64_t length) {
  return *std::min_element(lengths.begin(), lengths.end(), [length](int64_t a, int64_t b) {
    const int64_t from_a = std::abs(a - length), from_b = std::abs(b - length);
    return from_a != from_b ? from_a < from_b : a < b;
  });
}

/// Numbers the distinct words: comparing numbers is faster than comparing strings.
class WordNumbers {
 public:
  /// The same number for the same word. The words must outlive this object.
  std::vector<uint32_t> of(const std::vector<std::string>& words) {
    std::vector<uint32_t> numbers;
    numbers.reserve(words.size());
    for (const auto& word : words)
      numbers.push_back(numbers_.try_emplace(word, static_cast<uint32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct NgramCount {
  std::array<uint32_t, kBleuOrder> ngram;  // orders below 4 are padded with 0
  int64_t count;
};

/// Sorts by n-gram and joins the counts of equal n-grams by `join` (sum or maximum).
template <typename Join>
void join_equal(std::vector<NgramCount>& counts, const Join& join) {
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.ngram < b.ngram; });
  size_t kept = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (kept > 0 && counts[kept - 1].ngram == counts[i].ngram)
      counts[kept - 1].count = join(counts[kept - 1].count, counts[i].count);
    else
      counts[kept++] = counts[i];
  }
  counts.resize(kept);
}

std::vector<NgramCount> counted_ngrams(const std::vector<uint32_t>& words, size_t n) {
  std::vector<NgramCount> counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    counts.push_back({{}, 1});
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(i), n, counts.back().ngram.begin());
  }
  join_equal(counts, std::plus<>());
  return counts;
}

/// The maximum count of each n-gram over the references.
std::vector<NgramCount> max_of_each(const std::vector<std::vector<uint32_t>>& references, size_t n) {
  std::vector<NgramCount> all;
  for (const auto& words : references) {
    const auto counts = counted_ngrams(words, n);
    all.insert(all.end(), counts.begin(), counts.end());
  }
  if (references.size() > 1) join_equal(all, [](int64_t a, int64_t b) { return std::max(a, b); });
  return all;
}

/// Clipped matches: the sum over n-grams of the smaller of the two counts. Both lists are sorted.
int64_t clipped_matches(const std::vector<NgramCount>& one, const std::vector<NgramCount>& other) {
  int64_t sum = 0;
  auto next = other.begin();
  for (const auto& [ngram, count] : one) {
    while (next != other.end() && next->ngram < ngram) ++next;
    if (next != other.end() && next->ngram == ngram) sum += std::min(count, next->count);
  }
  return sum;
}

double smooth_value(const BleuOptions& options) {
  return options.smooth_value.value_or(options.smoothing == Smoothing::floor ? 0.1 : 1);
}

double brevity_penalty(const BleuCounts& counts) {
  const auto c = static_cast<double>(counts.hypothesis_length), r = static_cast<double>(counts.reference_length);
  if (c >= r) return 1;
  return c > 0 ? std::exp(1 - r / c) : 0;
}

/// Computes p_n; returns the number of orders that enter the score.
size_t fill_precisions(Bleu& bleu, const BleuOptions& options) {
  size_t order = kBleuOrder;
  double halved = 1;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    const double more = options.smoothing == Smoothing::add_k && n > 0 ? smooth_value(options) : 0;
    const double correct = static_cast<double>(bleu.counts.matches[n]) + more;
    const double total = static_cast<double>(bleu.counts.totals[n]) + more;
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (correct > 0) {
      bleu.precisions[n] = 100 * correct / total;
    } else if (options.smoothing == Smoothing::exp) {
      bleu.precisions[n] = 100 / ((halved *= 2) * total);
    } else if (options.smoothing == Smoothing::floor) {
      bleu.precisions[n] = 100 * smooth_value(options) / total;
    }
  }
  return order;
}

}  // namespace

Smoothing parse_smoothing(const std::string& word) {
  const auto found = std::find(kSmoothings.begin(), kSmoothings.end(), word);
  check(found != kSmoothings.end(), "metrics/bleu: no smoothing called '", word, "'", suggestion(word, kSmoothings),
        "; known: ", joined(kSmoothings));
  return static_cast<Smoothing>(found - kSmoothings.begin());
}

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  return *this;
}

BleuCounts bleu_counts(const std::string& hypothesis, const Sentences& references, const BleuOptions& options) {
  check(!references.empty(), "metrics/bleu: no reference, expected at least one");
  const auto words = prepared(hypothesis, options);
  std::vector<std::vector<std::string>> theirs;
  std::vector<int64_t> lengths;
  for (const auto& reference : references) {
    theirs.push_back(prepared(reference, options));
    lengths.push_back(static_cast<int64_t>(theirs.back().size()));
  }
  WordNumbers numbers;
  const auto ours = numbers.of(words);
  std::vector<std::vector<uint32_t>> references_as_numbers;
  for (const auto& reference : theirs) references_as_numbers.push_back(numbers.of(reference));
  BleuCounts counts;
  counts.hypothesis_length = static_cast<int64_t>(words.size());
  counts.reference_length = closest(lengths, counts.hypothesis_length);
  for (size_t n = 0; n < kBleuOrder; ++n) {
    counts.totals[n] = std::max<int64_t>(counts.hypothesis_length - static_cast<int64_t>(n), 0);
    counts.matches[n] = clipped_matches(counted_ngrams(ours, n + 1), max_of_each(references_as_numbers, n + 1));
  }
  return counts;
}

Bleu bleu_of(const BleuCounts& counts, const BleuOptions& options) {
  Bleu bleu;
  bleu.counts = counts;
  bleu.brevity_penalty = brevity_penalty(counts);
  if (std::all_of(counts.matches.begin(), counts.matches.end(), [](int64_t m) { return m == 0; })) return bleu;
  const size_t order = fill_precisions(bleu, options);
  double sum = 0;
  for (size_t n = 0; n < order; ++n) sum += std::log(bleu.precisions[n]);  // log 0 is -inf and makes the score 0
  bleu.score = bleu.brevity_penalty * std::exp(sum / static_cast<double>(order));
  return bleu;
}

Bleu bleu(const Sentences& hypotheses, const std::vector<Sentences>& references, const BleuOptions& options) {
  check_corpus("bleu", hypotheses, references);
  BleuCounts counts;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    counts += bleu_counts(hypotheses[i], references_of(references, i), options);
  return bleu_of(counts, options);
}

Bleu sentence_bleu(const std::string& hypothesis, const Sentences& references, BleuOptions options) {
  options.effective_order = true;
  return bleu_of(bleu_counts(hypothesis, references, options), options);
}

std::string signature(const BleuOptions& options, size_t references) {
  std::string smooth = kSmoothings[static_cast<size_t>(options.smoothing)];
  if (options.smoothing == Smoothing::floor || options.smoothing == Smoothing::add_k)
    smooth += "[" + with_digits(smooth_value(options), 2) + "]";
  return signed_as(references, {{"case", options.lowercase ? "lc" : "mixed"},
                                {"eff", options.effective_order ? "yes" : "no"},
                                {"tok", options.tokenizer},
                                {"smooth", smooth}});
}

std::string details(const Bleu& bleu) {
  std::vector<std::string> precisions;
  for (const double p : bleu.precisions) precisions.push_back(with_digits(p, 1));
  const auto c = static_cast<double>(bleu.counts.hypothesis_length);
  const auto r = static_cast<double>(bleu.counts.reference_length);
  return joined(precisions, "/") + " (BP = " + with_digits(bleu.brevity_penalty, 3) +
         " ratio = " + with_digits(r > 0 ? c / r : 0, 3) +
         " hyp_len = " + std::to_string(bleu.counts.hypothesis_length) +
         " ref_len = " + std::to_string(bleu.counts.reference_length) + ")";
}

}  // namespace heed
