// What a call of attention can ask for besides its three tensors, and what comes back.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/attention/parameters.h"
#include "heed/bridge/noise_scope.h"

namespace heed {

/// Added to the scores. Each gets its gradient.
struct Bias {
  Tensor full{};      // [B|1, Lq|1, Lk|1] or [B|1, H|1, Lq|1, Lk|1]
  Tensor per_key{};   // [B|1, Lk] or [B|1, H|1, Lk]
  Tensor relative{};  // [H|1, 2R + 1], read at clip(j - i, -R, R) + R, i the query's position
  Tensor alibi{};     // [H]: minus slope |j - i|
};

/// Counter-based: the same numbers on any tiling, thread count and device.
struct Noise {
  bool sample = false;    // draw; else decide. A module in training draws
  double dropout = 0;     // rate, on the weights that enter the context; those reported are whole
  uint64_t seed = 0;      // 0: one from torch's generator, reported in the plan
  uint64_t stream = 0;    // which use of that seed: layer, step; below 2^30
  int64_t first_row = 0;  // batch row 0 is this one of the global batch
  int64_t rows_each = 1;  // rows that each row of the global batch has become; first_row counts them, a scope does not
  Tensor uniforms{};      // [B, Lq, Lk] or [B, H, Lq, Lk] (+ [W] if multi) in (0, 1), in place of ours
};

/// In a NoiseScope, where neither seed nor stream is named: those of its next use, and its rows.
inline void follow_scope(Noise& noise) {
  NoiseScope* scope = NoiseScope::current();
  if (scope == nullptr || noise.seed != 0 || noise.stream != 0) return;
  noise.seed = scope->seed();
  noise.stream = scope->next_use();
  noise.first_row += scope->first_row() * noise.rows_each;
}

/// What to bring besides the context. What an alignment does not have is refused, not invented.
struct Outputs {
  bool weights = false;
  std::vector<int64_t> rows{}, heads{};  // of the weights only: these queries, these heads; empty: all
  bool lse = false, entropy = false;
  bool column_mass = false;  // the weight each key got, summed over queries
  int64_t top = 0;           // so many largest weights of each row
  Tensor links{};            // int64 [n, 4] = batch row, head, query, key: the log-weight there
};

/// fused: kernels, on the CPU; fastest takes them for float. composed: blocks, recomputed in backward, O(N) memory.
/// stored: everything at once. reference: the definition, in double on the CPU, without a gradient.
enum class Path { fastest, fused, composed, stored, reference };
std::string to_string(Path path);

struct Call {
  Mask mask{};
  Bias bias{};
  Noise noise{};
  Outputs outputs{};
  double scale = 1;     // multiplies the scores
  double soft_cap = 0;  // c > 0: e <- c tanh(e / c), after scale, before bias and mask
  Path path = Path::fastest;
  int64_t block_bytes = 16 << 20;  // composed: what one block may hold at once, about
};

/// Which path is taken and why not another.
struct Plan {
  Path path = Path::composed;
  std::string kernel;                                  // fused: "avx2: additive x softmax"
  std::vector<std::pair<Path, std::string>> rejected;  // with the reason
  int64_t block_rows = 0, block_queries = 0;           // batch rows x queries of one block
  int64_t bytes = 0;                                   // held at once beside inputs and outputs, about
  bool sampled = false;                                // an alignment drew
  uint64_t seed = 0;                                   // that was used; 0: nothing was drawn
  std::string to_string() const;
};

/// What was not wanted is undefined. Without a head axis in the query there is none here; W stands
/// only where a mechanism is multi-dimensional.
struct Attended {
  Tensor context;                // [B, H, Lq, Dv]
  Tensor weights;                // [B, H, Lq, Lk, W], or the chosen rows and heads
  Tensor lse, entropy;           // [B, H, Lq, W]
  Tensor column_mass;            // [B, H, Lk, W]
  Tensor top_weights, top_keys;  // [B, H, Lq, top, W], largest first; key -1 and weight 0 where there is none
  Tensor link_log_weights;       // [n, W]; -inf where the weight is 0; of hard, that of softmax, which it draws from
  Tensor log_probability;        // of what was drawn: hard [B, H, Lq, W], reinforced [B, H]
  Tensor selected;               // reinforced: 1 where the policy took the key, [B, H, Lk]
  Tensor selected_share;         // reinforced: taken keys over keys that could be taken, [B, H]
  Plan plan;
};

}  // namespace heed
