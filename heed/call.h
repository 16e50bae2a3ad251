// Options of one attention call, and its result.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace heed {

using at::Tensor;

/// top_left: query i attends keys j <= i. bottom_right: j <= i + Lk - Lq, so the last query attends the last key.
enum class Causal { none, top_left, bottom_right };

/// Which keys each query may attend. keep, key_count, causal and window combine by logical and.
struct Mask {
  Tensor keep{};       // bool, true = may be attended: [B|1, Lq|1, Lk|1] or [B|1, H|1, Lq|1, Lk|1]
  Tensor key_count{};  // int64 [B]: number of keys; the keys after them are padding
  Causal causal = Causal::none;
  int64_t left = -1, right = -1;  // keys at most this far before and after the query's position; -1: no limit

  /// Position of the first query, for a decoder that runs one step at a time. Positions matter for causal, window,
  /// relative, alibi and local_m. With bottom_right they follow from the number of keys, and this must be 0.
  int64_t first_query = 0;

  /// Whether anything is masked.
  bool any() const {
    return keep.defined() || key_count.defined() || causal != Causal::none || left >= 0 || right >= 0;
  }
};

/// Terms added to the scores, all differentiable; undefined: none. i is the position of the query, j of the key.
struct Bias {
  Tensor full{};      // [B|1, Lq|1, Lk|1] or [B|1, H|1, Lq|1, Lk|1]
  Tensor per_key{};   // [B|1, Lk] or [B|1, H|1, Lk]
  Tensor relative{};  // [H|1, 2R + 1]: adds relative[h, clip(j - i, -R, R) + R]
  Tensor alibi{};     // [H], the ALiBi slopes: subtracts alibi[h] |j - i|
};

/// Random numbers of a call. They are counter-based: the same for any tiling, thread count and device.
struct Noise {
  bool sample = false;    // alignments sample; false: they are deterministic. Set by a module in training mode
  double dropout = 0;     // rate, 0 <= rate < 1, for the weights that enter the context; reported weights have none
  uint64_t seed = 0;      // 0: a seed from torch's generator, reported in the plan
  uint64_t stream = 0;    // separates the uses of a seed, such as layers and steps; below 2^30
  int64_t first_row = 0;  // index of batch element 0 in the global batch
  int64_t rows_each = 1;  // batch elements per element of the global batch, such as the beam size; counted in first_row
  Tensor uniforms{};      // [B, Lq, Lk] or [B, H, Lq, Lk] (+ [W] if multi) in (0, 1), replaces the drawn numbers
};

/// Outputs requested in addition to the context. An output that the alignment does not have is refused.
struct Outputs {
  bool weights = false;
  std::vector<int64_t> rows{}, heads{};  // of the weights only: these queries, these heads; empty: all
  bool lse = false, entropy = false;     // of each query: log of the normalizing sum; entropy in nats
  bool column_mass = false;              // weight of each key, summed over queries
  int64_t top = 0;                       // number of largest weights to return for each query
  Tensor links{};                        // int64 [n, 4] = batch element, head, query, key: returns their log-weights
};

/// How a call is computed.
///   fastest    fused for float where there is a kernel, else composed; on a GPU stored, if its pairs fit into 256 MiB
///   fused      kernels
///   composed   torch operations on blocks, recomputed in backward; O(N) memory
///   stored     torch operations on the whole call; autograd keeps everything
///   reference  the definition, in double on the CPU, without gradients
enum class Path { fastest, fused, composed, stored, reference };
std::string to_string(Path path);

/// Weights in place of those that a mechanism computes, to ask what would have been: equal weights, those of another
/// model, weights that are searched by gradient. weights: as Attended::weights, without dropout; values: [B, (H,) Lk,
/// Dv], 0 where no query may attend. Returns the weights that make the context, of that shape or one that expands to
/// it.
using ReplaceWeights = std::function<Tensor(const Tensor& weights, const Tensor& values)>;

struct Call {
  Mask mask{};
  Bias bias{};
  Noise noise{};
  Outputs outputs{};
  double scale = 1;     // multiplies the scores
  double soft_cap = 0;  // c > 0: e <- c tanh(e / c), after scale, before bias and mask
  Path path = Path::fastest;
  bool deterministic = true;         // on a GPU, take only engines whose gradients are the same bits in every run
  int64_t block_bytes = 16 << 20;    // composed: approximate memory of one block
  ReplaceWeights replace_weights{};  // all weights are computed, composed unless `path` says otherwise, and returned
};

/// The path of a call, and the reasons against the others.
struct Plan {
  Path path = Path::composed;
  std::string kernel;                                  // fused: "avx2: additive x softmax"
  std::vector<std::pair<Path, std::string>> rejected;  // paths and reasons
  int64_t block_rows = 0, block_queries = 0;           // batch elements and queries of one block
  int64_t bytes = 0;                                   // approximate workspace, without inputs and outputs
  bool sampled = false;                                // whether the alignment samples
  uint64_t seed = 0;                                   // seed in use; 0: no random numbers
  std::string refused;                                 // why(): why attend() refuses the requested path; empty: it runs
  std::string to_string() const;
};

/// Result of a call. Outputs that were not requested are undefined. Of half types the context alone has that type. The
/// axis H is absent if the query has none, and W unless the mechanism is multi-dimensional.
struct Attended {
  Tensor context;                // [B, H, Lq, Dv]
  Tensor weights;                // [B, H, Lq, Lk, W], or only the requested queries and heads
  Tensor lse, entropy;           // [B, H, Lq, W]
  Tensor column_mass;            // [B, H, Lk, W]
  Tensor top_weights, top_keys;  // [B, H, Lq, top, W], largest first, padded with weight 0 and key -1
  Tensor link_log_weights;       // [n, W]; -inf where the weight is 0; for hard, of the softmax that it samples from
  Tensor log_probability;        // of the sample: hard [B, H, Lq, W], reinforced [B, H]
  Tensor selected;               // reinforced: 1 where the policy selected the key, [B, H, Lk]
  Tensor selected_share;         // reinforced: selected keys over keys that could be selected, [B, H]
  Plan plan;
};

}  // namespace heed
