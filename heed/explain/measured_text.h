// What tests of weights read of a text of a batch: its tokens without padding, and why a figure of it is undefined.

#pragma once

#include <string>
#include <vector>

#include "heed/explain/explained.h"
#include "heed/explain/test.h"

namespace heed {

/// Values of tokens at a position.
using TokenValues = std::vector<double>;

struct MeasuredText {
  std::vector<int64_t> slots{};        // numbers of its tokens among the T of the batch
  std::vector<int64_t> positions{};    // those that are no padding
  std::vector<TokenValues> weights{};  // [position][token]
  std::vector<bool> finite_outputs{};  // [position]
};

std::vector<MeasuredText> measured_texts(const ExplainedBatch& batch);

/// Values [B, P, T] of the tokens of a text at each of its positions.
std::vector<TokenValues> values_of(const Tensor& values, int64_t row, const MeasuredText& text);

/// Whether values differ by no more than rounding errors of float: by 1e-6 of the largest one.
bool constant(const TokenValues& values);

/// Why the weights at a position have no order: "no_tokens", "nan_weights" (or infinite ones), "nan_outputs",
/// "one_token", "no_weights" (all are 0), "constant_weights"; empty: they have one.
std::string no_order(const MeasuredText& text, size_t position);
/// Why they are no distribution that another one could replace: the same, with "negative_weights", without
/// "constant_weights".
std::string no_distribution(const MeasuredText& text, size_t position);

/// The largest weight, of weights divided by their sum.
double max_weight(const TokenValues& weights);
/// The median as NumPy has it: of an even number, the mean of the two in the middle.
double median(std::vector<double> values);
/// Mean over positions of values of tokens, for a map.
TokenValues mean_over_positions(const std::vector<TokenValues>& values);

/// A record with what every test keeps: "tokens" and, of a classifier whose classes exclude each other, "class", the
/// number of the most probable one.
ExplanationRecord text_record(const ExplainedBatch& batch, const TestContext& context, int64_t row,
                              const MeasuredText& text);
/// Weights of a map, rounded, if the text is short enough for an example.
void add_map(ExplanationRecord& record, const std::string& name, const TokenValues& weights);

/// How far outputs [N, P, C] of texts rows [N] are from those of the model: double [N, P] on the CPU, 0 at padding.
/// Total variation distance; of classes that are independent, and of numbers, the mean absolute difference.
Tensor output_distances(const ExplainedBatch& batch, const ExplainedFacts& facts, const Tensor& rows,
                        const Tensor& outputs);

/// How many variations of texts are computed at once, so that memory is bounded.
int64_t variations_at_once(const ExplainedBatch& batch);

}  // namespace heed
