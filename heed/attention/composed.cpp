// The composed and the stored backend: score -> scale -> soft cap -> bias -> mask -> align -> dropout -> weighted sum,
// with torch operations, on any device.
//
// Composed cuts a call into blocks of batch elements x queries, each with all keys, and keeps only the inputs: backward
// runs every block again. Live memory is O(N) at every order of derivative. Stored is one block whose intermediates
// autograd keeps.

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "heed/attention/composed_block.h"
#include "heed/backend/backend.h"
#include "heed/torch_support/recompute.h"
#include "heed/torch_support/send.h"

namespace heed {

using namespace backend;

namespace {

struct BlockSizes {
  int64_t rows = 1, queries = 1;  // batch elements and queries of one block
  int64_t bytes = 0;              // that it holds at once
};

BlockSizes block_sizes(const CallRecord& r, int64_t max_bytes) {
  constexpr int64_t kAlignFloats = 8;  // scores, weights, their gradients and a few masks, per channel
  const int64_t per_pair = r.floats_per_pair + kAlignFloats * r.width();
  const int64_t per_query = std::max<int64_t>(1, r.heads * r.keys * per_pair * r.in[kValues].element_size());
  BlockSizes sizes;
  sizes.queries = std::clamp<int64_t>(max_bytes / per_query, 1, std::max<int64_t>(r.queries, 1));
  sizes.rows = std::clamp<int64_t>(max_bytes / per_query / sizes.queries, 1, std::max<int64_t>(r.batch, 1));
  sizes.bytes = sizes.rows * sizes.queries * per_query;
  return sizes;
}

/// The links of each block, with indices counted within it, and their order in the call.
struct SortedLinks {
  std::vector<Tensor> of_block;  // undefined if a block has none
  std::vector<int64_t> order;    // order[i]: index in the call of the i-th sorted link; empty: as in the call
};
SortedLinks sort_links(const Tensor& links, const BlockSizes& sizes, int64_t row_parts, int64_t query_parts) {
  SortedLinks sorted;
  sorted.of_block.resize(static_cast<size_t>(row_parts * query_parts));
  if (!links.defined() || links.size(0) == 0) return sorted;
  if (sorted.of_block.size() == 1) {
    sorted.of_block[0] = links;
    return sorted;
  }
  const auto here = links.to(at::kCPU).contiguous();  // waits for a GPU, the only place of a call that does
  const auto at = here.accessor<int64_t, 2>();
  const auto block_of = [&](int64_t i) { return at[i][0] / sizes.rows * query_parts + at[i][2] / sizes.queries; };
  sorted.order.resize(static_cast<size_t>(here.size(0)));
  std::iota(sorted.order.begin(), sorted.order.end(), 0);
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](int64_t a, int64_t b) { return block_of(a) < block_of(b); });
  const auto first = at::tensor({sizes.rows, int64_t{0}, sizes.queries, int64_t{0}}, at::kLong);
  for (size_t from = 0; from < sorted.order.size();) {
    size_t to = from;
    const int64_t block = block_of(sorted.order[from]);
    while (to < sorted.order.size() && block_of(sorted.order[to]) == block) ++to;
    const std::vector<int64_t> some(sorted.order.begin() + static_cast<std::ptrdiff_t>(from),
                                    sorted.order.begin() + static_cast<std::ptrdiff_t>(to));
    auto own = here.index_select(0, at::tensor(some, at::kLong)).clone();
    own.select(1, 0).remainder_(sizes.rows);
    own.select(1, 2).remainder_(sizes.queries);
    sorted.of_block[static_cast<size_t>(block)] = own.to(links.device());
    from = to;
  }
  return sorted;
}

/// Undoes the permutation `order` along an axis.
Tensor in_callers_order(const Tensor& x, int64_t axis, const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return x.index_select(axis, indices(back, x.device()));
}

/// Which inputs a block reads: those that kernels compute from are made of them, and get their gradients through them.
bool read_by_blocks(size_t slot) {
  return slot < kPackedKeys || slot >= kSlots;
}

/// How a call is cut into blocks.
class Blocks {
 public:
  explicit Blocks(const CallRecord& r)
      : sizes_(block_sizes(r, r.call.block_bytes)),
        row_parts((r.batch + sizes_.rows - 1) / sizes_.rows),
        query_parts((r.queries + sizes_.queries - 1) / sizes_.queries),
        links(sort_links(r.call.outputs.links, sizes_, row_parts, query_parts)),
        rows_in_order(r.call.outputs.rows.size()),
        r_(r) {
    const auto& rows = r.call.outputs.rows;
    std::iota(rows_in_order.begin(), rows_in_order.end(), 0);
    std::stable_sort(rows_in_order.begin(), rows_in_order.end(),
                     [&](int64_t a, int64_t b) { return rows[static_cast<size_t>(a)] < rows[static_cast<size_t>(b)]; });
  }

  Block at(int64_t row_part, int64_t query_part) const {
    Block block;
    block.range = {row_part * sizes_.rows, query_part * sizes_.queries, r_.queries, r_.keys, r_.max_keys};
    for (const int64_t which : rows_in_order) {
      const int64_t row = r_.call.outputs.rows[static_cast<size_t>(which)] - block.range.first_query;
      if (row >= 0 && row < sizes_.queries) block.rows.push_back(row);
    }
    block.links = links.of_block[static_cast<size_t>(row_part * query_parts + query_part)];
    return block;
  }

  /// x cut along an axis; x itself if it has no such axis, or one of size 1. split() makes one autograd node, whose
  /// backward is one concatenation; narrow() would make one for each part, each filling a tensor with zeros.
  static std::vector<Tensor> cut(const Tensor& x, int axis, int64_t size, int64_t parts) {
    if (!is_cut(x, axis)) return std::vector<Tensor>(static_cast<size_t>(parts), x);
    return x.split(size, axis);
  }
  static bool is_cut(const Tensor& x, int axis) { return x.defined() && axis >= 0 && x.size(axis) != 1; }

  /// Calls body(row part, query part, inputs of the block) for each block.
  template <class Body>
  void each(const Body& body) const {
    std::vector<std::vector<Tensor>> by_row(kSlots);
    for (size_t s = 0; s < kSlots; ++s)
      by_row[s] = cut(read_by_blocks(s) ? r_.in[s] : Tensor(), kSlotSpecs[s].batch_axis, sizes_.rows, row_parts);
    for (int64_t row = 0; row < row_parts; ++row) {
      std::vector<std::vector<Tensor>> parts(kSlots);
      for (size_t s = 0; s < kSlots; ++s)
        parts[s] = cut(by_row[s][static_cast<size_t>(row)], kSlotSpecs[s].query_axis, sizes_.queries, query_parts);
      for (int64_t query = 0; query < query_parts; ++query) {
        Tensors in;
        for (size_t s = 0; s < kSlots; ++s) in.push_back(parts[s][static_cast<size_t>(query)]);
        in.insert(in.end(), r_.in.begin() + kSlots, r_.in.end());
        body(row, query, in);
      }
    }
  }

  const BlockSizes sizes_;
  const int64_t row_parts, query_parts;
  const SortedLinks links;
  std::vector<int64_t> rows_in_order;  // of the requested weights, sorted by query

 private:
  const CallRecord& r_;
};

Tensor joined_along(const std::vector<Tensor>& pieces, int64_t axis) {
  return pieces.empty() ? Tensor() : pieces.size() == 1 ? pieces[0] : at::cat(pieces, axis);
}

/// A sum of gradients. It adds in place only into memory of its own: gradients that autograd returns may share memory
/// with each other, or with themselves.
class GradientSum {
 public:
  void add(const Tensor& more) {
    if (!more.defined()) return;
    if (!sum_.defined()) {
      sum_ = more;
    } else if (own_ && !at::GradMode::is_enabled()) {
      sum_.add_(more);
    } else {
      sum_ = sum_ + more;
      own_ = true;
    }
  }
  const Tensor& value() const { return sum_; }

 private:
  Tensor sum_;
  bool own_ = false;
};

/// A record without tensors, for the steps of blocks, which outlive the call.
CallRecord without_tensors(const CallRecord& r) {
  CallRecord bare = r;
  bare.in.clear();
  bare.names = r.names.without_tensors();
  bare.call.outputs.links.reset();  // passed to each block in Block::links
  bare.reach = {};
  return bare;
}

/// Brings outputs that blocks give in their own order into that of the caller.
void restore_order(const CallRecord& r, const Blocks& blocks, Tensors& out) {
  if (!r.call.outputs.rows.empty() && out[kWeights].defined())
    out[kWeights] = in_callers_order(out[kWeights], 2, blocks.rows_in_order);
  if (!blocks.links.order.empty())
    out[kLinks] = in_callers_order(out[kLinks], 0, blocks.links.order);
  else if (r.call.outputs.links.defined() && !out[kLinks].defined())
    out[kLinks] = at::zeros({0, r.width()}, r.in[kValues].options());
}

Tensors run_blocks(const CallRecord& r) {
  const Blocks blocks(r);
  const CallRecord bare = without_tensors(r);
  std::vector<Tensors> whole(kOutputs), pieces(kOutputs);
  blocks.each([&](int64_t row, int64_t query, const Tensors& in) {
    Tensors out = run_block(bare, blocks.at(row, query), in);
    for (size_t o = 0; o < kOutputs; ++o) {
      if (!out[o].defined()) continue;
      if (o == kColumnMass && !pieces[o].empty())
        pieces[o][0].add_(out[o]);
      else
        pieces[o].push_back(out[o]);
    }
    if (query + 1 < blocks.query_parts) return;
    for (size_t o = 0; o < kOutputs; ++o) {
      if (pieces[o].empty()) continue;
      if (o == kLinks)
        whole[o].insert(whole[o].end(), pieces[o].begin(), pieces[o].end());
      else
        whole[o].push_back(joined_along(pieces[o], 2));
      pieces[o].clear();
    }
  });
  Tensors outs;
  for (const auto& all : whole) outs.push_back(joined_along(all, 0));
  restore_order(r, blocks, outs);
  return outs;
}

// ---- backward

/// Gradients of the outputs, cut like the outputs themselves.
class GradientPieces {
 public:
  GradientPieces(const CallRecord& r, const Blocks& blocks, const Tensors& grads) : grads_(grads) {
    const auto sorted = [](const Tensor& x, int64_t axis, const std::vector<int64_t>& order) {
      return x.defined() && !order.empty() ? x.index_select(axis, indices(order, x.device())) : x;
    };
    if (!r.call.outputs.rows.empty()) grads_[kWeights] = sorted(grads[kWeights], 2, blocks.rows_in_order);
    grads_[kLinks] = sorted(grads[kLinks], 0, blocks.links.order);
    some_rows_ = !r.call.outputs.rows.empty();
  }

  Tensors of(const Block& block, const Tensors& in) {
    const int64_t first_row = block.range.first_row, rows = in[kQuery].size(0);
    const int64_t first = block.range.first_query, count = in[kQuery].size(2);
    if (first == 0) next_weight_ = 0;
    Tensors some(kOutputs);
    for (size_t o = 0; o < kOutputs; ++o) {
      const Tensor& x = grads_[o];
      if (!x.defined()) continue;
      if (o == kLinks) {
        const int64_t links = block.links.defined() ? block.links.size(0) : 0;
        if (links > 0) some[o] = x.narrow(0, next_link_, links);
        next_link_ += links;
        continue;
      }
      some[o] = x.narrow(0, first_row, rows);
      if (o == kColumnMass) continue;
      if (o == kWeights && some_rows_) {
        const auto chosen = static_cast<int64_t>(block.rows.size());
        some[o] = some[o].narrow(2, next_weight_, chosen);
        next_weight_ += chosen;
      } else {
        some[o] = some[o].narrow(2, first, count);
      }
    }
    return some;
  }

 private:
  Tensors grads_;
  bool some_rows_ = false;
  int64_t next_link_ = 0, next_weight_ = 0;
};

/// Gradients of blocks, joined along the axes that the inputs were cut along and summed otherwise. Sums are formed at
/// once, so that they do not take memory for each block.
class JoinedGradients {
 public:
  JoinedGradients(const CallRecord& r, const Blocks& blocks)
      : r_(r), blocks_(blocks), of_row_(r.in.size()), sum_(r.in.size()), pieces_(r.in.size()), rows_(r.in.size()) {}

  /// in: the inputs of the block.
  void add(int64_t query, const Tensors& in, const Tensors& grads) {
    for (size_t s = 0; s < grads.size(); ++s)
      if (is_cut(s, kQueryAxis))
        pieces_[s].push_back({grads[s], in[s].sizes().vec()});
      else
        of_row_[s].add(grads[s]);
    if (query + 1 == blocks_.query_parts) end_row(in);
  }

  Tensors all() const {
    Tensors result(r_.in.size());
    for (size_t s = 0; s < result.size(); ++s)
      result[s] = is_cut(s, kBatchAxis) ? joined(rows_[s], kSlotSpecs[s].batch_axis) : sum_[s].value();
    return result;
  }

 private:
  enum Axis { kBatchAxis, kQueryAxis };
  struct Piece {
    Tensor grad;  // undefined: 0, as where a loss depends on nothing of a block
    std::vector<int64_t> shape;
  };

  bool is_cut(size_t s, Axis axis) const {
    if (s >= kSlots || !read_by_blocks(s)) return false;
    return Blocks::is_cut(r_.in[s], axis == kBatchAxis ? kSlotSpecs[s].batch_axis : kSlotSpecs[s].query_axis);
  }
  static Tensor joined(const std::vector<Piece>& pieces, int axis) {
    const auto found = std::find_if(pieces.begin(), pieces.end(), [](const Piece& x) { return x.grad.defined(); });
    if (found == pieces.end()) return {};
    Tensors all;
    for (const auto& x : pieces) all.push_back(x.grad.defined() ? x.grad : at::zeros(x.shape, found->grad.options()));
    return joined_along(all, axis);
  }
  void end_row(const Tensors& in) {
    for (size_t s = 0; s < of_row_.size(); ++s) {
      const Tensor row = is_cut(s, kQueryAxis) ? joined(pieces_[s], kSlotSpecs[s].query_axis) : of_row_[s].value();
      if (is_cut(s, kBatchAxis)) {
        auto shape = r_.in[s].sizes().vec();
        shape[static_cast<size_t>(kSlotSpecs[s].batch_axis)] = in[s].size(kSlotSpecs[s].batch_axis);
        rows_[s].push_back({row, std::move(shape)});
      } else {
        sum_[s].add(row);
      }
      pieces_[s].clear();
      of_row_[s] = {};
    }
  }

  const CallRecord& r_;
  const Blocks& blocks_;
  std::vector<GradientSum> of_row_, sum_;
  std::vector<std::vector<Piece>> pieces_, rows_;
};

Tensors backward_of_blocks(const CallRecord& r, const Tensors& grads, const std::vector<bool>& wanted) {
  std::vector<bool> needed = wanted;
  for (size_t s = 0; s < needed.size(); ++s) needed[s] = needed[s] && read_by_blocks(s);
  const Blocks blocks(r);
  const CallRecord bare = without_tensors(r);
  GradientPieces pieces(r, blocks, grads);
  JoinedGradients joined(r, blocks);
  blocks.each([&](int64_t row, int64_t query, const Tensors& in) {
    const Block block = blocks.at(row, query);
    const Step step = [bare, block](const Tensors& given) { return run_block(bare, block, given); };
    Tensors all = in;
    const Tensors some = pieces.of(block, in);
    all.insert(all.end(), some.begin(), some.end());
    const Step back = gradients_of(step, needed);
    joined.add(query, in, at::GradMode::is_enabled() ? recompute(back, all) : back(all));
  });
  return joined.all();
}

// ---- the backends

class Composed final : public Backend {
 public:
  explicit Composed(const Options&) {}

  Path path() const override { return Path::composed; }
  Reads reads() const override { return Reads::prepared; }
  std::string why_not(const CallRecord&) const override { return ""; }
  int priority(const CallRecord&) const override { return 0; }
  void describe(const CallRecord& r, Plan& plan) const override {
    const BlockSizes sizes = block_sizes(r, r.call.block_bytes);
    plan.block_rows = sizes.rows;
    plan.block_queries = sizes.queries;
    plan.bytes = sizes.bytes;
  }
  ForwardResult forward(const CallRecord& r, bool) const override { return {run_blocks(r), {}}; }
  Tensors backward(const CallRecord& r, const SavedTensors&, const Tensors& grads,
                   const std::vector<bool>& wanted) const override {
    return backward_of_blocks(r, grads, wanted);
  }
  bool differentiates_twice() const override { return true; }
};

/// On a GPU, launching the many small operations of blocks, and again in backward, takes longer than computing them:
/// calls whose pairs take at most this many bytes are stored there, unless a kernel supports them.
constexpr int64_t kStoredOnGpu = int64_t{256} << 20;

class Stored final : public Backend {
 public:
  explicit Stored(const Options&) {}

  Path path() const override { return Path::stored; }
  Reads reads() const override { return Reads::prepared; }
  std::string why_not(const CallRecord&) const override { return ""; }
  int priority(const CallRecord& r) const override {
    return r.in[kValues].is_cuda() && whole_bytes(r) <= kStoredOnGpu ? 1 : -1;
  }
  std::string on_request(const CallRecord& r) const override {
    return r.in[kValues].is_cuda() && whole_bytes(r) > kStoredOnGpu
               ? "keeps every pair for backward, more than 256 MiB; only on request"
               : "keeps every pair for backward; only on request";
  }
  void describe(const CallRecord& r, Plan& plan) const override {
    plan.block_rows = r.batch;
    plan.block_queries = r.queries;
    plan.bytes = whole_bytes(r);
  }
  ForwardResult forward(const CallRecord& r, bool) const override {
    Tensors out = run_block(r, {r.whole(), r.call.outputs.rows, r.call.outputs.links}, r.in);
    if (r.call.outputs.links.defined() && r.call.outputs.links.size(0) == 0)
      out[kLinks] = at::zeros({0, r.width()}, r.in[kValues].options());
    return {std::move(out), {}};
  }
  Tensors backward(const CallRecord&, const SavedTensors&, const Tensors&, const std::vector<bool>&) const override {
    fail("backend/stored: autograd records the operations of forward()");
  }
  bool recorded() const override { return true; }

 private:
  static int64_t whole_bytes(const CallRecord& r) { return block_sizes(r, std::numeric_limits<int64_t>::max()).bytes; }
};

const Catalogue<Backend>::Entry composed_entry{
    "composed", make_part<Backend, Composed>, {.choose = "any device and any combination of parts, in O(N) memory"}};
const Catalogue<Backend>::Entry stored_entry{
    "stored", make_part<Backend, Stored>, {.choose = "short calls whose intermediates fit into memory"}};

}  // namespace
}  // namespace heed
