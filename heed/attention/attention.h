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

/// Turns projected queries and keys by their positions (positions.h).
struct Rotary {
  Layout layout = Layout::interleaved;
  double base = 0;  // 0: not at all
};

/// query, keys, values: widths of what comes in; the context is as wide as the values. hidden: width of
/// the score's hidden layer and, with several heads, of all heads together (0: as wide as the keys,
/// rounded up to the heads).
struct AttentionOptions {
  int64_t query_dim = 0, key_dim = 0, value_dim = 0, hidden_dim = 0;
  int64_t num_heads = 1, num_kv_heads = 0;  // key_heads: heads that share keys and values (0: each has its own)
  int64_t head_dim = 0;            // of each head (0: hidden / heads). Given, a single head is projected too
  int64_t context_dim = 0;               // width of what projected heads give (0: as wide as the values)
  bool bias = false;                 // projections of heads add heads.query_bias, keys_bias, values_bias, out_bias
  Rotary rotary{};
  Mechanism mechanism{};
  double dropout = 0;  // in training, unless a call brings its own

  bool projects() const { return num_heads > 1 || head_dim > 0; }
};

/// One head: the parts' own parameters and no others. Several: heads.query, heads.keys, heads.values
/// and heads.out besides, and the parameters of score and alignment once for each head ([H, ...]).
class AttentionImpl : public torch::nn::Cloneable<AttentionImpl> {
 public:
  explicit AttentionImpl(AttentionOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// query [B, Lq, Dq], keys [B, Lk, Dk], values [B, Lk, Dv]. In training it draws; each call takes the
  /// next stream unless the call names one.
  Attended forward(const Tensor& query, const Tensor& keys, const Tensor& values, const Call& call = {});

  /// Projects and packs keys and values once. Of the mask, what holds for every query: keep with a
  /// query axis of 1, and key_count.
  Memory prepare(const Tensor& keys, const Tensor& values, const Mask& mask = {});
  /// The memory with more keys after those it has.
  Memory append(const Memory& memory, const Tensor& keys, const Tensor& values, const Mask& mask = {});
  Attended forward(const Tensor& query, const Memory& memory, const Call& call = {});

  /// For `hard`: while true, calls use the softmax weights that it draws from, and draw nothing. Xu et al. (2015) train
  /// with these in half of the cases, since only they have a gradient of their own. Refused for other alignments.
  void set_soft(bool soft);

  /// By the names that attend() and files use.
  Parameters named() const;
  const AttentionOptions& options() const { return options_; }

 private:
  struct KeySide;  // keys and values as the parts get them
  KeySide key_side(const Tensor& keys, const Tensor& values, const Mask& mask, int64_t first_key) const;
  Memory prepare_from(int64_t first_key, const Tensor& keys, const Tensor& values, const Mask& mask);
  Tensor with_rotary(const Tensor& heads, int64_t first) const;
  Parameters own(const Sizes& sizes) const;
  Call with_noise(const Call& call);
  Tensor projected(const Tensor& x, const std::string& weight) const;
  Tensor split(const Tensor& x, const std::string& weight, int64_t heads) const;
  Attended finish(Attended attended) const;

  const Mechanism& mechanism() const { return soft_ ? *soft_ : options_.mechanism; }

  AttentionOptions options_;
  std::optional<Mechanism> soft_;             // set_soft()
  Sizes head_;                                // what one head sees
  std::shared_ptr<torch::nn::Module> heads_;  // heads.*, by their bare names; a copy's is filled after reset()
  /// Counts calls, from any thread; a copy of a module goes on counting by itself.
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
