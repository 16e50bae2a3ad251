// One call of attention, between attend() and the backend that computes it.
//
// The tensors of a call are a list, indexed by Slot: autograd tracks only the tensors in the argument list of a
// function. kSlotSpecs has one line for each: from it follow the checks of what a caller gives and how the call is cut
// into blocks. A new input tensor of a call is a field of Call, a line here, and the backend that reads it.

#pragma once

#include <array>
#include <memory>
#include <vector>

#include "heed/backend/mask.h"
#include "heed/backend/tiled.h"
#include "heed/base/spec.h"
#include "heed/torch_support/own_backward.h"

namespace heed {
struct MechanismParts;  // score and alignment, of the layer attention; only the composed backend looks inside
}

namespace heed::backend {

/// Indices of the tensors of a call; the parameters of the parts follow after kSlots. From kPackedKeys on they are made
/// for kernels from the others.
enum Slot : size_t {
  kQuery,
  kKeys,
  kValues,
  kAlignQuery,
  kAlignKeys,
  kKeep,
  kKeyCount,
  kReachCount,
  kFull,
  kPerKey,
  kRelative,
  kAlibi,
  kUniforms,
  kPackedKeys,
  kTileQuery,
  kTileKeys,
  kTileValues,
  kToScores,
  kCenter,
  kPosition,
  kAlpha,
  kSlots
};

struct SlotSpec {
  int batch_axis, query_axis;  // along which blocks are cut; -1: every block reads all of it
  // For tensors that a caller gives: its name in messages, its shape, where Call has it.
  const char* name = nullptr;
  const char* shape = nullptr;  // axes B H Q K W, each of that size or 1; H may be absent
  Tensor& (*of)(Call&) = nullptr;
  bool like_query = true;  // has the type of the query
};

inline constexpr std::array<SlotSpec, kSlots> kSlotSpecs{{
    {0, 2},   // query: as given; after prepare(), prepared by the score
    {0, -1},  // keys, likewise
    {0, -1},  // values
    {0, 2},   // align_query: prepared by the alignment
    {0, -1},  // align_keys
    {0, 2, "mask: keep", "BHQK", [](Call& c) -> Tensor& { return c.mask.keep; }, false},
    {0, -1, "mask: key_count", nullptr, [](Call& c) -> Tensor& { return c.mask.key_count; }, false},
    {0, -1},  // reach_count: Reach::key_count
    {0, 2, "bias: full", "BHQK", [](Call& c) -> Tensor& { return c.bias.full; }},
    {0, -1, "bias: per_key", "BHK", [](Call& c) -> Tensor& { return c.bias.per_key; }},
    {-1, -1, "bias: relative", nullptr, [](Call& c) -> Tensor& { return c.bias.relative; }},
    {-1, -1, "bias: alibi", nullptr, [](Call& c) -> Tensor& { return c.bias.alibi; }},
    {0, 2, "noise: uniforms", nullptr, [](Call& c) -> Tensor& { return c.noise.uniforms; }},
    {0, -1},   // packed_keys: Backend::pack of a memory
    {0, 2},    // tile_query: ScoreTensors::query
    {0, -1},   // tile_keys
    {0, -1},   // tile_values: values, with as many heads as tile_keys
    {-1, -1},  // to_scores: [H, ...]
    {0, 2},    // center
    {0, 2},    // position
    {-1, -1},  // alpha
}};

struct CallRecord {
  Tensors in = Tensors(kSlots);                            // by Slot; parameters from kSlots on
  Call call{};                                             // its tensors are in `in`, except outputs.links
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;     // B, H, Lq, Lk
  int64_t max_keys = std::numeric_limits<int64_t>::max();  // keys from this index on cannot be scored
  bool head_axis = false;                                  // whether the caller's tensors have a head axis
  TiledScore score{};
  TiledAlignment align{};
  double score_scale = 1;  // ScoreTensors::scale
  Offers offers{};
  int64_t floats_per_pair = 0;  // numbers that torch operations hold at once for each pair of query and key
  Parameters names{};           // of the parameters, whose tensors are in `in` too. names.sizes(): widths of the call
  Reach reach{};                // of the whole call; only reach.keys and key_count are read after prepare()
  std::shared_ptr<const MechanismParts> parts{};
  const MechanismSpec* spec = nullptr;  // of `parts`

  const Sizes& sizes() const { return names.sizes(); }
  int64_t width() const { return sizes().width(); }  // W
  bool single() const { return sizes().dimensionality == Dimensionality::single; }
  bool empty() const { return batch == 0 || heads == 0 || queries == 0 || keys == 0; }
  Parameters parameters() const { return names.with_values(in, kSlots); }
  /// The mask with its tensors.
  Mask mask() const;
  BlockRange whole() const { return {0, 0, queries, keys, max_keys}; }
  at::ScalarType type() const { return in[kValues].scalar_type(); }
};

/// Outputs of a call, in the order of the gradients that autograd passes to backward.
enum Output : size_t {
  kContext,
  kWeights,
  kLse,
  kEntropy,
  kColumnMass,
  kTopWeights,
  kTopKeys,
  kLinks,
  kLogProbability,
  kSelected,
  kSelectedShare,
  kOutputs
};
Attended attended_from(const Tensors& outputs);

/// [B, Hk, L, D] -> [B, H, L, D]: head h reads key head h / (H / Hk).
Tensor repeat_heads(const Tensor& x, int64_t heads);

/// The `count` largest weights of each query and their keys, padded with 0 and -1. On ties the first key comes first.
std::pair<Tensor, Tensor> top_of(const Tensor& weights, int64_t count);

}  // namespace heed::backend
