#include "heed/metrics/statistics.h"

#include "heed/metrics/corpus.h"

namespace heed {
namespace {

double number(int64_t count) {
  return static_cast<double>(count);
}

/// Sums of integers below 2^53 are exact.
int64_t count(double number) {
  return static_cast<int64_t>(number);
}

std::vector<double> row(const BleuCounts& counts) {
  std::vector<double> all{number(counts.hypothesis_length), number(counts.reference_length)};
  for (size_t n = 0; n < kBleuOrder; ++n) {
    all.push_back(number(counts.matches[n]));
    all.push_back(number(counts.totals[n]));
  }
  return all;
}

BleuCounts bleu_counts_of(const std::vector<double>& row) {
  BleuCounts counts{.hypothesis_length = count(row[0]), .reference_length = count(row[1])};
  for (size_t n = 0; n < kBleuOrder; ++n) {
    counts.matches[n] = count(row[2 + 2 * n]);
    counts.totals[n] = count(row[3 + 2 * n]);
  }
  return counts;
}

std::vector<double> row(const ChrfCounts& counts) {
  std::vector<double> all;
  for (const auto& order : counts) {
    all.push_back(number(order.hypothesis));
    all.push_back(number(order.reference));
    all.push_back(number(order.both));
  }
  return all;
}

ChrfCounts chrf_counts_of(const std::vector<double>& row) {
  ChrfCounts counts;
  for (size_t i = 0; i < row.size(); i += 3) counts.push_back({count(row[i]), count(row[i + 1]), count(row[i + 2])});
  return counts;
}

std::vector<double> row(const EditCounts& counts) {
  return {number(counts.substitutions), number(counts.deletions), number(counts.insertions), number(counts.hits)};
}

}  // namespace

Statistics bleu_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                           const BleuOptions& options) {
  check_corpus("bleu", hypotheses, references);
  Statistics all{{}, [options](const std::vector<double>& sum) { return bleu_of(bleu_counts_of(sum), options).score; }};
  for (size_t i = 0; i < hypotheses.size(); ++i)
    all.rows.push_back(row(bleu_counts(hypotheses[i], references_of(references, i), options)));
  return all;
}

Statistics chrf_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                           const ChrfOptions& options) {
  return statistics(chrf(hypotheses, references, options), options);
}

Statistics ter_statistics(const Sentences& hypotheses, const std::vector<Sentences>& references,
                          const TerOptions& options) {
  return statistics(ter(hypotheses, references, options));
}

Statistics statistics(const Chrf& found, const ChrfOptions& options) {
  Statistics all{{}, [options](const std::vector<double>& sum) { return chrf_of(chrf_counts_of(sum), options); }};
  for (const auto& counts : found.sentences) all.rows.push_back(row(counts));
  return all;
}

Statistics statistics(const Ter& found) {
  Statistics all{{}, [](const std::vector<double>& sum) { return ter_of({count(sum[0]), sum[1]}); }};
  for (const auto& counts : found.sentences) all.rows.push_back({number(counts.edits), counts.reference_length});
  return all;
}

Statistics statistics(const Meteor& found) {
  std::vector<double> scores;
  for (const auto& sentence : found.sentences) scores.push_back(sentence.score);
  return mean_statistics(scores);
}

Statistics statistics(const EditRate& found) {
  Statistics all{{}, [](const std::vector<double>& sum) {
                   return edit_rate_of({count(sum[0]), count(sum[1]), count(sum[2]), count(sum[3])});
                 }};
  for (const auto& counts : found.sentences) all.rows.push_back(row(counts));
  return all;
}

}  // namespace heed
