#include "heed/attention/prepare.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/attention/mechanism_parts.h"

namespace heed {

using namespace backend;

namespace {

/// Whether a parameter of the score has a head axis, so that shared keys must be repeated before they are prepared.
bool one_for_each_head(const CallRecord& r, const Parameters& score) {
  Sizes sizes = r.sizes();
  sizes.hidden_dim = Sizes::kAny;
  for (const auto& spec : r.parts->declared(sizes)->score)
    if (score[spec.name].dim() > static_cast<int64_t>(spec.shape.size())) return true;
  return false;
}

/// The same w for all heads, as a view [H, ...]. Without a view where w is one already: each is a node of autograd.
Tensor with_head_axis(const Tensor& w, int64_t heads, bool single) {
  if (!w.defined() || (single ? w.size(0) == heads : w.dim() == 3)) return w;
  if (single) return w.expand({heads, -1});
  auto shape = w.sizes().vec();
  shape.insert(shape.begin(), heads);
  return w.unsqueeze(0).expand(shape);
}

}  // namespace

void add_tiles(CallRecord& r, const Backend& backend) {
  if (backend.reads() != Reads::tiles || r.empty()) return;
  const Score& score = *r.parts->score;
  const Alignment& align = *r.parts->align;
  ScoreTensors s = score.tile(r.names.of("score"), r.in[kQuery], r.in[kKeys]);
  r.score_scale = s.scale;
  // A kernel expects as many heads of keys as of values.
  const Tensor& values = r.in[kValues];
  const int64_t heads = std::max(s.keys.defined() ? s.keys.size(1) : 1, values.size(1));
  r.in[kTileQuery] = std::move(s.query);
  r.in[kTileKeys] = repeat_heads(s.keys, heads);
  r.in[kTileValues] = repeat_heads(values, heads);
  r.in[kPackedKeys] = repeat_heads(r.in[kPackedKeys], heads);
  r.in[kToScores] = with_head_axis(s.to_scores, r.heads, r.single());

  Scored in;
  in.query = r.in[kAlignQuery];
  in.keys = r.in[kAlignKeys];
  in.draw.sample = r.call.noise.sample;
  if (align.positional()) {
    const auto index = values.options();
    const int64_t first = first_position(r.call.mask, r.whole());
    in.key_count = r.in[kReachCount].to(index);
    in.query_index = at::arange(first, first + r.queries, index).view({-1, 1, 1});
    in.key_index = at::arange(r.keys, index).view({-1, 1});
  }
  AlignmentTensors a = align.tile(r.names.of("align"), in);
  r.in[kCenter] = std::move(a.center);
  r.in[kPosition] = std::move(a.position);
  if (a.alpha.defined()) r.in[kAlpha] = a.alpha.expand({r.heads});
}

void prepare(CallRecord& r, const Backend& backend, bool finite) {
  if (backend.reads() == Reads::given || r.empty()) return;
  const Score& score = *r.parts->score;
  const Alignment& align = *r.parts->align;
  Tensor query = r.in[kQuery], keys = r.in[kKeys];
  const Mask mask = r.mask();
  const bool masked = !finite && (mask.any() || r.max_keys < r.keys);
  // A backend that skips what is unreached needs no zeros there. Projections do, for the gradients of their weights.
  const bool skips = backend.skips_unreached(r) && !align.looks_at_keys();
  const bool clean_inputs = masked && (!skips || (score.prepares() && at::GradMode::is_enabled()));
  if (clean_inputs || align.looks_at_keys() || align.positional() || backend.reads() == Reads::prepared) {
    r.reach = reach(mask, r.whole(), query.device(), align.positional());
    r.in[kReachCount] = r.reach.key_count;
  }
  if (clean_inputs) {
    query = without_unreached(query, r.reach.rows);
    keys = without_unreached(keys, r.reach.keys);
    if (!skips) r.in[kValues] = without_unreached(r.in[kValues], r.reach.values);
  }
  const Parameters of_score = r.names.of("score"), of_align = r.names.of("align");
  const bool repeat = keys.size(1) != r.heads && one_for_each_head(r, of_score);
  r.in[kQuery] = score.prepare_query(of_score, query);
  r.in[kKeys] = score.prepare_keys(of_score, repeat ? repeat_heads(keys, r.heads) : keys);
  r.in[kAlignQuery] = align.prepare_query(of_align, query);
  if (align.looks_at_keys()) r.in[kAlignKeys] = align.prepare_keys(of_align, repeat_heads(keys, r.heads), r.reach.keys);
  add_tiles(r, backend);
}

}  // namespace heed
