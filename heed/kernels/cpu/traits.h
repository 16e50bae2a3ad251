// What the kernel of a score or an alignment reads and offers. Callers ask here and need not name kinds.

#pragma once

#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

struct ScoreTraits {
  bool reads_keys = true;        // Problem::key_rows is required; without it the gradients of the keys are 0
  bool reads_to_scores = false;  // Problem::to_scores is required
  bool reads_exp_keys = false;   // Problem::exp_keys saves it work
};

struct AlignTraits {
  // If not, weights depend on the mask and on biases of -inf alone: query, keys and w are not read; they and the biases
  // get gradients of 0.
  bool reads_scores = true;
  bool has_lse = true;               // weights have a normalizer; if not, lse is -inf and its gradient is ignored
  bool has_log_probability = false;  // chooses one key: its log-probability can be requested, and given a gradient
  bool needs_second = false;         // backward() reads Problem::second
  // Weights and context give the scores no gradient: without one with respect to the log-probability, the entropy or
  // log-weights at links, theirs are 0.
  bool scores_need_log_probability = false;
  bool reads_alpha = false, reads_k = false;  // Problem::alpha, Problem::k
};

/// Throw heed::Error if there is no kernel of this kind.
ScoreTraits traits(ScoreKind kind);
AlignTraits traits(AlignKind kind);

}  // namespace heed::kernels::cpu
