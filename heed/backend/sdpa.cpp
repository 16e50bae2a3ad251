// Plain dot + softmax on a GPU by the efficient engine of PyTorch's scaled_dot_product_attention, in float; of half
// types by the fastest of its engines for them.
//
// The keys of its backward are split among blocks that add to the same gradient in any order. Call::deterministic
// forbids splits, so that every sum has one order.

#include <ATen/ATen.h>

#include "heed/backend/backend.h"
#include "heed/backend/kernel_tensors.h"
#include "heed/backend/sdpa_table.h"

namespace heed::backend {
namespace {

constexpr int64_t kAligned = 4;  // floats: the engine loads 16 bytes at a time

/// x with features, rows and heads at multiples of 16 bytes.
Tensor aligned(const Tensor& x) {
  const auto fits = [](int64_t stride) { return stride % kAligned == 0; };
  const bool already =
      x.stride(3) == 1 && fits(x.stride(0)) && fits(x.stride(1)) && fits(x.stride(2)) && fits(x.storage_offset());
  return already ? x : x.clone(at::MemoryFormat::Contiguous);
}

/// [B, H, L, D] -> [B, L, H, D], as the engine reads it.
Tensor turned(const Tensor& x) {
  return x.transpose(1, 2);
}

bool is_plain_softmax(const TiledAlignment& align) {
  return align.missing.empty() && align.kind == AlignKind::softmax && align.gauss == Gauss::none && align.reach < 0 &&
         !align.perturb && align.temperature == 1;
}

bool is_causal(const CallRecord& r) {
  return r.call.mask.causal != Causal::none;
}

class Sdpa final : public Backend {
 public:
  explicit Sdpa(const Options&) {}

  Path path() const override { return Path::fused; }
  bool runs_on(const at::Device& device) const override { return device.is_cuda(); }

  std::string why_not(const CallRecord& r) const override {
    const std::string why = why_not_this(r);
    return why.empty() ? "" : "SDPA: " + why;
  }
  int priority(const CallRecord& r) const override {
    return efficient_is_faster(r.queries, r.keys, r.call.deterministic && learns(r.in)) ? 110 : 90;
  }
  bool skips_unreached(const CallRecord&) const override { return true; }  // every query and key is reached

  void describe(const CallRecord& r, Plan& plan) const override {
    plan.kernel = "SDPA efficient: dot x softmax";
    plan.block_rows = r.batch;
    plan.block_queries = r.queries;
    plan.bytes = r.batch * r.heads * r.queries * static_cast<int64_t>(sizeof(float));  // lse, saved for backward
  }

  ForwardResult forward(const CallRecord& r, bool learns) const override {
    const Tensor query = aligned(r.in[kTileQuery]), keys = aligned(r.in[kTileKeys]),
                 values = aligned(r.in[kTileValues]);
    auto [context, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
        query, keys, values, /*attn_bias=*/c10::nullopt, /*compute_log_sumexp=*/learns, /*dropout_p=*/0, is_causal(r),
        r.call.scale * r.score_scale);
    ForwardResult result;
    result.outputs[kContext] = context;
    if (learns) result.saved = {context, {lse, seed, offset}};
    return result;
  }

  /// Flash or cuDNN's; their backward adds in any order.
  bool has_half_engine(const CallRecord& r, bool learns) const override { return !learns || !r.call.deterministic; }

  Tensor attend_half(const CallRecord& r, const Tensor& query, const Tensor& keys,
                     const Tensor& values) const override {
    const auto with_heads = [](const Tensor& x) { return x.dim() == 3 ? x.unsqueeze(1) : x; };
    const Tensor context =
        at::scaled_dot_product_attention(with_heads(query), with_heads(keys), with_heads(values), /*attn_mask=*/{},
                                         /*dropout_p=*/0, is_causal(r), r.call.scale * r.score_scale);
    return query.dim() == 3 ? context.squeeze(1) : context;
  }

  bool differentiates(const CallRecord&, const Tensors& grads) const override { return grads[kContext].defined(); }

  Tensors backward(const CallRecord& r, const SavedTensors& saved, const Tensors& grads,
                   const std::vector<bool>& wanted) const override {
    enum { kLogSum, kSeed, kOffset };
    Tensors all(r.in.size());
    if (!wanted[kTileQuery] && !wanted[kTileKeys] && !wanted[kTileValues]) return all;
    const Tensor query = aligned(r.in[kTileQuery]), keys = aligned(r.in[kTileKeys]),
                 values = aligned(r.in[kTileValues]);
    const auto one_order = r.call.deterministic ? c10::optional<int64_t>(1) : c10::nullopt;
    const auto [dq, dk, dv, none] = at::_efficient_attention_backward(
        turned(aligned(grads[kContext])), turned(query), turned(keys), turned(values), /*bias=*/c10::nullopt,
        turned(saved.context), /*cu_seqlens_q=*/c10::nullopt, /*cu_seqlens_k=*/c10::nullopt, r.queries, r.keys,
        saved.others[kLogSum], /*dropout_p=*/0, saved.others[kSeed], saved.others[kOffset],
        /*custom_mask_type=*/is_causal(r) ? 1 : 0, /*bias_requires_grad=*/false, r.call.scale * r.score_scale,
        /*num_splits_key=*/one_order);
    if (wanted[kTileQuery]) all[kTileQuery] = turned(dq);
    if (wanted[kTileKeys]) all[kTileKeys] = turned(dk);
    if (wanted[kTileValues]) all[kTileValues] = turned(dv);
    return all;
  }

 private:
  static std::string why_not_this(const CallRecord& r) {
    const at::Device device = r.in[kValues].device();
    if (!device.is_cuda()) return "its engine runs on GPUs, the query is on " + device.str();
    if (r.type() != at::kFloat) return std::string("its engine is for float, the query is ") + toString(r.type());
    if (!r.single() || (r.spec->score.name != "dot" && r.spec->score.name != "scaled_dot"))
      return "its score is dot or scaled_dot";
    if (!is_plain_softmax(r.align)) return "its alignment is softmax";
    if (r.call.soft_cap > 0) return "it has no soft cap";
    if (r.call.noise.dropout > 0) return "its dropout draws other random numbers";
    if (std::string unread = why_not_read(r, {}); !unread.empty()) return unread;
    if (r.batch > 65535 || r.heads > 65535) return "it counts batch elements and heads to 65535";
    const Mask& mask = r.call.mask;
    if (mask.left >= 0 || mask.right >= 0) return "it has no window";
    if (is_causal(r) && (r.queries != r.keys || mask.first_query != 0))
      return "its causal mask is for equally many queries and keys";
    const Outputs& o = r.call.outputs;
    if (o.weights || o.lse || o.entropy || o.column_mass || o.top > 0 || o.links.defined())
      return "it returns the context alone";
    if (r.in[kKeys].size(1) != r.heads || r.in[kValues].size(1) != r.heads) return "its heads do not share keys";
    if (r.sizes().key_dim % kAligned != 0 || r.in[kValues].size(-1) % kAligned != 0 || r.sizes().key_dim == 0 ||
        r.in[kValues].size(-1) == 0)
      return "its widths are multiples of 4";
    return "";
  }
};

const Catalogue<Backend>::Entry sdpa_entry{
    "sdpa", make_part<Backend, Sdpa>, {.choose = "long calls of plain dot + softmax on a GPU, in float"}};

}  // namespace
}  // namespace heed::backend
