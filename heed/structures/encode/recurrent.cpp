#include "heed/structures/encode/recurrent.h"

#include <string>
#include <tuple>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/utils/rnn.h>

#include "heed/structures/checks.h"
#include "heed/structures/encode/cell_steps.h"
#include "heed/torch_support/autocast.h"
#include "heed/torch_support/noise_scope.h"

namespace heed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The order that moves real features to the front and keeps their sequence: order[i] is the position that moves to i.
Tensor real_first(const Tensor& keep) {
  const int64_t length = keep.size(1);
  const auto positions = at::arange(length, keep.options().dtype(at::kLong)).expand(keep.sizes());
  return at::where(keep, positions, positions + length).argsort(int64_t{1});  // [N, L]
}

/// rows [N, L, D] in another order.
Tensor reordered(const Tensor& rows, const Tensor& order) {
  return rows.gather(1, order.unsqueeze(-1).expand({-1, -1, rows.size(-1)}));
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
Tensor states_along(Cell cell, const CellWeights& weights, const Tensor& inputs) {
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

/// One layer of a torch module that has several.
struct LayerPass {
  Cell cell;
  bool bidirectional;
  std::vector<Tensor> weights;

  /// The states of all positions, and the last state of each direction [directions, N, width].
  std::tuple<Tensor, Tensor> operator()(const Tensor& rows, const Tensor& start) const {
    if (cell == Cell::gru) return at::gru(rows, start, weights, true, 1, 0.0, true, bidirectional, true);
    const auto [states, last, end] =
        at::lstm(rows, {start, start}, weights, true, 1, 0.0, true, bidirectional, /*batch_first=*/true);
    return {states, last};
  }

  std::tuple<Tensor, Tensor> packed(const Tensor& data, const Tensor& sizes, const Tensor& start) const {
    if (cell == Cell::gru) return at::gru(data, sizes, start, weights, true, 1, 0.0, true, bidirectional);
    const auto [states, last, end] = at::lstm(data, sizes, {start, start}, weights, true, 1, 0.0, true, bidirectional);
    return {states, last};
  }
};

torch::nn::utils::rnn::PackedSequence packed(const Tensor& rows, const Tensor& counts) {
  // Packing requires a length of at least 1: an empty sequence passes as one zero vector, and its result is discarded.
  return torch::nn::utils::rnn::pack_padded_sequence(rows, counts.clamp_min(1).cpu(), /*batch_first=*/true,
                                                     /*enforce_sorted=*/false);
}

Tensor unpacked(const torch::nn::utils::rnn::PackedSequence& sequence, int64_t length) {
  return std::get<0>(
      torch::nn::utils::rnn::pad_packed_sequence(sequence, /*batch_first=*/true, /*padding_value=*/0.0, length));
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

/// The final states of the last layer, its directions concatenated. states [layers * directions, N, width].
Tensor RecurrentImpl::final_state(const Tensor& states) const {
  const int64_t directions = options_.bidirectional ? 2 : 1;
  return states.narrow(0, states.size(0) - directions, directions).transpose(0, 1).flatten(1);  // [N, out]
}

/// Whether dropout between layers must follow a NoiseScope. Torch's own draws from a generator, on GPUs from a state
/// that cannot be saved.
bool RecurrentImpl::draws_in_scope() const {
  return is_training() && options_.num_layers > 1 && options_.dropout > 0 && NoiseScope::current() != nullptr;
}

RecurrentImpl::Passed RecurrentImpl::by_layers(Tensor rows, const Tensor& counts) {
  const auto& o = options_;
  const auto weights = gru_ ? gru_->all_weights() : lstm_->all_weights();
  const int64_t directions = o.bidirectional ? 2 : 1;
  const auto each = static_cast<std::ptrdiff_t>(weights.size()) / o.num_layers;
  const auto start = at::zeros({directions, rows.size(0), o.out_dim / directions}, rows.options());
  Tensor last;
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    if (layer > 0) rows = heed::dropout(rows, o.dropout, /*training=*/true);
    const auto from = weights.begin() + layer * each;
    const LayerPass pass_layer{o.cell, o.bidirectional, {from, from + each}};
    if (!counts.defined()) {
      std::tie(rows, last) = pass_layer(rows, start);
      continue;
    }
    const auto in = packed(rows, counts);
    Tensor states;
    std::tie(states, last) = pass_layer.packed(in.data(), in.batch_sizes(), start);
    const torch::nn::utils::rnn::PackedSequence out(states, in.batch_sizes(), in.sorted_indices(),
                                                    in.unsorted_indices());
    rows = unpacked(out, rows.size(1));
    last = last.index_select(1, in.unsorted_indices());
  }
  return {rows, final_state(last)};
}

RecurrentImpl::Passed RecurrentImpl::by_torch(const Tensor& rows) {
  if (draws_in_scope()) return by_layers(rows, {});
  if (options_.cell == Cell::gru) {
    const auto [states, last] = gru_->forward(rows);
    return {states, final_state(last)};
  }
  const auto [states, last] = lstm_->forward(rows);
  return {states, final_state(std::get<0>(last))};
}

RecurrentImpl::Passed RecurrentImpl::by_torch(const Tensor& rows, const Tensor& keep) {
  const auto order = real_first(keep);
  const auto counts = keep.sum(1);  // [N]
  const auto front = reordered(rows, order);
  const auto back = order.argsort(int64_t{1});
  if (draws_in_scope()) {
    const Passed passed = by_layers(front, counts);
    return {reordered(passed.rows, back), passed.last};
  }
  const auto in = packed(front, counts);
  Tensor last;
  torch::nn::utils::rnn::PackedSequence passed = in;
  if (options_.cell == Cell::gru) {
    std::tie(passed, last) = gru_->forward_with_packed_input(in);
  } else {
    std::tuple<Tensor, Tensor> ends;
    std::tie(passed, ends) = lstm_->forward_with_packed_input(in);
    last = std::get<0>(ends);
  }
  return {reordered(unpacked(passed, keep.size(1)), back), final_state(last)};
}

CellWeights RecurrentImpl::weights(int64_t layer, bool backward) const {
  const auto named = options_.cell == Cell::gru ? gru_->named_parameters() : lstm_->named_parameters();
  const auto of = [&](const std::string& name) {
    return named[name + "_l" + std::to_string(layer) + (backward ? "_reverse" : "")];
  };
  return {of("weight_ih"), of("weight_hh"), of("bias_ih"), of("bias_hh")};
}

RecurrentImpl::Passed RecurrentImpl::step_by_step(const Tensor& given, const Tensor& keep) const {
  const int64_t N = given.size(0), L = given.size(1);
  const auto positions = given.options().dtype(at::kLong);
  const auto order = keep.defined() ? real_first(keep) : at::arange(L, positions).expand({N, L});
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
  const Passed passed = !rows.is_cuda()  ? step_by_step(flat, keep)
                        : keep.defined() ? by_torch(flat, keep)
                                         : by_torch(flat);
  if (!keep.defined()) return {features.with_rows(passed.rows.view(wide)), passed.last.view(ends)};
  const auto nothing = at::zeros({}, rows.options());
  return {features.with_rows(passed.rows.view(wide)).without_padding(),
          at::where(features.keep.any(-1, /*keepdim=*/true), passed.last.view(ends), nothing)};
}

}  // namespace heed
