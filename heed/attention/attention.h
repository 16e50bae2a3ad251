// Attention as a module that owns its parameters.

#pragma once

#include <atomic>
#include <optional>

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/attend.h"
#include "heed/attention/memory.h"
#include "heed/attention/positions.h"

namespace heed {

/// Rotary position embedding of queries and keys, after the projections (positions.h).
struct Rotary {
  Layout layout = Layout::interleaved;
  double base = 0;  // 0: no rotary embedding
};

struct AttentionOptions {
  /// Features of query, keys and values; query_dim may be 0 for scores that learn their own queries. hidden_dim: width
  /// of the score's hidden layer; with projections, of all heads together (0: key_dim, rounded up to a multiple of
  /// num_heads).
  int64_t query_dim = 0, key_dim = 0, value_dim = 0, hidden_dim = 0;
  int64_t num_heads = 1, num_kv_heads = 0;  // num_kv_heads: heads of keys and values, divides num_heads; 0: num_heads
  int64_t head_dim = 0;                     // 0: hidden_dim / num_heads. If given, a single head has projections too
  int64_t context_dim = 0;                  // features of the context after the output projection; 0: value_dim
  bool bias = false;                        // the projections add heads.query_bias, keys_bias, values_bias, out_bias
  Rotary rotary{};
  Mechanism mechanism{};  // scaled_dot + softmax
  double dropout = 0;     // of the weights, in training, unless Call::noise has a rate

  /// Whether inputs and context are projected per head.
  bool projects() const { return num_heads > 1 || head_dim > 0; }
};

struct PartTensors;  // parameters of one part

/// Without projections it owns only the parameters of score and alignment, score.* and align.*. With projections it
/// also owns heads.query, heads.keys, heads.values and heads.out. With several heads score.* and align.* have a leading
/// axis H.
class AttentionImpl : public torch::nn::Cloneable<AttentionImpl> {
 public:
  explicit AttentionImpl(AttentionOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// query [B, Lq, Dq], keys [B, Lk, Dk], values [B, Lk, Dv]. In training mode alignments sample and dropout applies;
  /// each call uses the next random stream unless Call::noise names one.
  Attended forward(const Tensor& query, const Tensor& keys, const Tensor& values, const Call& call = {});

  /// Projects and packs keys and values once, for forward(query, memory). The mask may have only what applies to every
  /// query: keep with a query axis of 1, and key_count.
  Memory prepare(const Tensor& keys, const Tensor& values, const Mask& mask = {});
  /// The memory with these keys and values appended. Refused for alignments that read all keys at once.
  Memory append(const Memory& memory, const Tensor& keys, const Tensor& values, const Mask& mask = {});
  Attended forward(const Tensor& query, const Memory& memory, const Call& call = {});

  /// For the alignment `hard`: while true, calls use the softmax weights that it samples from, and sample nothing. Xu
  /// et al. (2015) train with these in half of the cases, since only they are differentiable. Refused for other
  /// alignments.
  void set_soft(bool soft);

  /// All parameters by the names that attend() and checkpoints use.
  Parameters named() const;
  const AttentionOptions& options() const { return options_; }

 private:
  struct KeySide;  // projected keys and values
  KeySide key_side(const Tensor& keys, const Tensor& values, const Mask& mask, int64_t first_key) const;
  Memory prepare_from(int64_t first_key, const Tensor& keys, const Tensor& values, const Mask& mask);
  Tensor with_rotary(const Tensor& heads, int64_t first) const;
  Parameters own() const;
  void pack(Memory& memory) const;
  Call with_noise(const Call& call);
  Tensor projected(const Tensor& x, const std::string& weight) const;
  Tensor split(const Tensor& x, const std::string& weight, int64_t heads) const;
  Attended finish(Attended attended) const;

  const Mechanism& mechanism() const { return soft_ ? *soft_ : options_.mechanism; }

  AttentionOptions options_;
  std::optional<Mechanism> soft_;                       // set_soft()
  Sizes head_;                                          // sizes of one head
  std::shared_ptr<PartTensors> score_, align_, heads_;  // score.*, align.*, heads.*; filled after reset() in a clone
  Parameters names_;                                    // names of score.* and align.*, tensors undefined
  /// Counts calls, thread-safe; a clone of the module continues from the same number.
  struct Counter {
    Counter() = default;
    Counter(const Counter& other) : next(other.next.load()) {}
    Counter& operator=(const Counter& other) {
      next = other.next.load();
      return *this;
    }
    std::atomic<uint64_t> next{0};
  };
  Counter streams_;
};
TORCH_MODULE(Attention);

}  // namespace heed
