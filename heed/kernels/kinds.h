// The kinds of scores, activations and alignments that kernels compute, for every device, and their names in plans.

#pragma once

namespace heed::kernels {

/// The part of a score that reads a query and a key together.
enum class ScoreKind {
  dot,               // q . k
  additive,          // w . tanh(q + k)
  hidden,            // w . act(q + k)
  squared_distance,  // -|q - k|^2
  distance,          // -|q - k|
  table,             // q_j: the query holds one score per key position; keys are not read
};

constexpr const char* name(ScoreKind kind) {
  constexpr const char* names[] = {"dot", "additive", "hidden", "squared_distance", "distance", "table"};
  return names[static_cast<int>(kind)];
}

enum class Activation { identity, tanh, relu, sigmoid, elu, gelu, silu };

enum class AlignKind {
  softmax,
  threshold,
  top_k,
  hard,
  straight_through,
  sparsemax,
  entmax,
  sigmoid,
  identity,
  uniform,  // 1 / n over the n kept keys; scores are not computed
};

constexpr const char* name(AlignKind kind) {
  constexpr const char* names[] = {"softmax",   "threshold", "top_k",   "hard",     "straight_through",
                                   "sparsemax", "entmax",    "sigmoid", "identity", "uniform"};
  return names[static_cast<int>(kind)];
}

/// Where the Gaussian of local_p applies, g = exp(-(j - p)^2 / (2 sigma^2)).
enum class Gauss { none, weights, add, multiply };  // a g;  e + log g;  e g

}  // namespace heed::kernels
