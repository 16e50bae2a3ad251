#include "heed/structures/encode/recurrent.h"

#include <string>
#include <tuple>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "heed/backend/dropout.h"
#include "heed/structures/checks.h"
#include "heed/structures/encode/cell_steps.h"
#include "heed/torch_support/autocast.h"

namespace heed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The order that moves real features to the front and keeps their sequence: order[i] is the position that moves to i.
Tensor moved_first(const Tensor& keep) {
  const int64_t length = keep.size(1);
  const auto positions = at::arange(length, keep.options().dtype(at::kLong)).expand(keep.sizes());
  return at::where(keep, positions, positions + length).argsort(int64_t{1});  // [N, L]
}

/// A permutation of the rows of x [n, D]: row i is x[to[i]], and back[to[i]] = i. Backward applies the inverse
/// permutation; that of index_select would add row by row.
struct Moved : torch::autograd::Function<Moved> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& to, const Tensor& back) {
    context->saved_data["to"] = to;
    context->saved_data["back"] = back;
    return x.index_select(0, to);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto to = context->saved_data["to"].toTensor(), back = context->saved_data["back"].toTensor();
    return {Moved::apply(grads[0], back, to), Tensor(), Tensor()};
  }
};

/// The order in which one direction reads: real features first, forward or backward.
struct Order {
  int64_t N, L;
  Tensor to, back;  // int64 [L N]: to[t N + n] is the position n L + l read at step t; back is the inverse

  Order(const Tensor& order, const Tensor& counts, bool backward) : N(order.size(0)), L(order.size(1)) {
    const auto steps = at::arange(L, order.options());
    auto read = order;  // [N, L]
    if (backward) {
      const auto last = counts.unsqueeze(1) - 1;  // [N, 1]
      read = order.gather(1, at::where(steps <= last, last - steps, steps));
    }
    to = (read + L * at::arange(N, order.options()).unsqueeze(1)).t().reshape({-1});
    back = at::empty_like(to);
    back.index_put_({to}, at::arange(N * L, order.options()));
  }
  /// [N, L, D] -> [L, N, D], and back.
  Tensor steps_of(const Tensor& rows) const {
    return Moved::apply(rows.reshape({N * L, -1}), to, back).view({L, N, -1});
  }
  Tensor rows_of(const Tensor& steps) const { return Moved::apply(steps.view({N * L, -1}), back, to).view({N, L, -1}); }
};

/// The states [T, N, S] after each of the inputs [T, N, in]; the initial state is 0.
Tensor states_by_steps(Cell cell, const CellWeights& weights, const Tensor& inputs) {
  CellSteps steps(cell, weights, inputs);
  Tensor hidden = at::zeros({inputs.size(1), weights.states.size(1)}, inputs.options());
  Tensor memory = hidden;
  std::vector<Tensor> states;
  for (int64_t t = 0; t < inputs.size(0); ++t) {
    steps.step(t, {}, hidden, memory);
    states.push_back(hidden);
  }
  return at::stack(states);
}

/// The parameters of one direction as views of one new tensor, in the order that cuDNN computes from: it would copy
/// parameters that lie anywhere else, one by one.
std::vector<Tensor> in_one_tensor(const CellWeights& w) {
  const std::vector<Tensor> all{w.inputs, w.states, w.inputs_bias, w.states_bias};
  std::vector<Tensor> flat, views;
  std::vector<int64_t> sizes;
  for (const auto& x : all) {
    flat.push_back(x.flatten());
    sizes.push_back(x.numel());
  }
  const auto parts = at::cat(flat).split_with_sizes(sizes);
  for (size_t i = 0; i < all.size(); ++i) views.push_back(parts[i].view(all[i].sizes()));
  return views;
}

/// The same with torch's kernels, which on a GPU run all steps in one call.
Tensor states_by_torch(Cell cell, const CellWeights& weights, const Tensor& inputs) {
  const auto start = at::zeros({1, inputs.size(1), weights.states.size(1)}, inputs.options());
  const bool learns = at::GradMode::is_enabled();  // cuDNN keeps what backward needs only if it is told to
  const auto given = in_one_tensor(weights);
  if (cell == Cell::gru) return std::get<0>(at::gru(inputs, start, given, true, 1, 0.0, learns, false, false));
  return std::get<0>(at::lstm(inputs, {start, start}, given, true, 1, 0.0, learns, false, false));
}

Tensor states_along(Cell cell, const CellWeights& weights, const Tensor& inputs) {
  return inputs.is_cuda() ? states_by_torch(cell, weights, inputs) : states_by_steps(cell, weights, inputs);
}

}  // namespace

RecurrentImpl::RecurrentImpl(RecurrentOptions options) : options_(options) {
  const auto& o = options_;
  check(o.in_dim > 0 && o.out_dim > 0, "recurrent: widths in and out are ", o.in_dim, " and ", o.out_dim,
        "; expected more than 0");
  check(!o.bidirectional || o.out_dim % 2 == 0, "recurrent: out is ", o.out_dim,
        " for two directions; expected an even width, half for each");
  check(o.num_layers >= 1, "recurrent: ", o.num_layers, " layers, expected at least 1");
  check(o.dropout >= 0 && o.dropout < 1, "recurrent: dropout is ", o.dropout, ", expected 0 <= dropout < 1");
  reset();
}

void RecurrentImpl::reset() {
  const auto& o = options_;
  const int64_t width = o.bidirectional ? o.out_dim / 2 : o.out_dim;
  const double dropout = o.num_layers > 1 ? o.dropout : 0;
  const auto set = [&](auto options) {
    return options.num_layers(o.num_layers).bidirectional(o.bidirectional).batch_first(true).dropout(dropout);
  };
  if (o.cell == Cell::gru)
    gru_ = register_module("gru", torch::nn::GRU(set(torch::nn::GRUOptions(o.in_dim, width))));
  else
    lstm_ = register_module("lstm", torch::nn::LSTM(set(torch::nn::LSTMOptions(o.in_dim, width))));
}

void RecurrentImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::Recurrent(" << (o.cell == Cell::gru ? "gru" : "lstm") << ", in " << o.in_dim << ", out " << o.out_dim
         << ", layers " << o.num_layers << (o.bidirectional ? ", bidirectional" : "") << ")";
}

CellWeights RecurrentImpl::weights(int64_t layer, bool backward) const {
  const auto named = options_.cell == Cell::gru ? gru_->named_parameters() : lstm_->named_parameters();
  const auto of = [&](const std::string& name) {
    return named[name + "_l" + std::to_string(layer) + (backward ? "_reverse" : "")];
  };
  return {of("weight_ih"), of("weight_hh"), of("bias_ih"), of("bias_hh")};
}

RecurrentImpl::Passed RecurrentImpl::pass(const Tensor& given, const Tensor& keep, bool real_first) const {
  const int64_t N = given.size(0), L = given.size(1);
  const auto positions = given.options().dtype(at::kLong);
  const auto order = keep.defined() && !real_first ? moved_first(keep) : at::arange(L, positions).expand({N, L});
  const auto counts = keep.defined() ? keep.sum(1) : at::full({N}, L, positions);
  std::vector<Order> ways{{order, counts, false}};
  if (options_.bidirectional) ways.emplace_back(order, counts, true);
  const auto ends =
      (counts - 1).clamp_min(0) * N + at::arange(N, positions);  // index of the last state of each sequence
  Tensor rows = given;
  std::vector<Tensor> last;
  for (int64_t layer = 0; layer < options_.num_layers; ++layer) {
    if (layer > 0) rows = heed::dropout(rows, options_.dropout, is_training());
    std::vector<Tensor> sides;
    last.clear();
    for (size_t way = 0; way < ways.size(); ++way) {
      const auto states = states_along(options_.cell, weights(layer, way == 1), ways[way].steps_of(rows));  // [L, N, S]
      last.push_back(keep.defined() ? states.flatten(0, 1).index_select(0, ends) : states.select(0, L - 1));
      sides.push_back(ways[way].rows_of(states));
    }
    rows = at::cat(sides, -1);
  }
  return {rows, at::cat(last, -1)};
}

Encoded RecurrentImpl::encode(const Features& given) {
  const auto& o = options_;
  const Features features = given.with_rows(full(given.rows));
  const FullPrecision precision;
  const auto& rows = features.rows;
  check(rows.defined() && rows.dim() >= 3 && rows.size(-1) == o.in_dim, "recurrent: features are ", shape_of(rows),
        ", expected [B, L, ", o.in_dim, "]");
  check_type("recurrent: features", rows, parameters().front());
  check_keep("recurrent: features", features);
  auto positions = rows.sizes().vec();  // [B, ..., L]
  positions.pop_back();
  auto wide = positions;
  wide.push_back(o.out_dim);
  auto ends = wide;
  ends.erase(ends.end() - 2);
  if (rows.numel() == 0) return {features.with_rows(rows.new_zeros(wide)), rows.new_zeros(ends)};

  const Features clean = features.without_padding();
  const auto flat = clean.rows.reshape({-1, rows.size(-2), o.in_dim});  // [N, L, in]
  const auto keep = features.keep.defined() ? features.keep.reshape({-1, rows.size(-2)}) : Tensor();
  const Passed passed = pass(flat, keep, features.real_first);
  if (!keep.defined()) return {features.with_rows(passed.rows.view(wide)), passed.last.view(ends)};
  const auto nothing = at::zeros({}, rows.options());
  return {features.with_rows(passed.rows.view(wide)).without_padding(),
          at::where(features.keep.any(-1, /*keepdim=*/true), passed.last.view(ends), nothing)};
}

}  // namespace heed
