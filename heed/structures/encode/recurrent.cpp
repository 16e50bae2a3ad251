#include "heed/structures/encode/recurrent.h"

#include <tuple>

#include <torch/nn/utils/rnn.h>

#include "heed/structures/checks.h"

namespace heed {
namespace {

/// Where each place goes when real features move to the front, in order: order[i] is the place that comes to i.
Tensor real_first(const Tensor& keep) {
  const int64_t length = keep.size(1);
  const auto places = at::arange(length, keep.options().dtype(at::kLong)).expand(keep.sizes());
  return at::where(keep, places, places + length).argsort(int64_t{1});  // [N, L]
}

/// rows [N, L, D] in another order.
Tensor reordered(const Tensor& rows, const Tensor& order) {
  return rows.gather(1, order.unsqueeze(-1).expand({-1, -1, rows.size(-1)}));
}

}  // namespace

RecurrentImpl::RecurrentImpl(RecurrentOptions options) : options_(options) {
  const auto& o = options_;
  check(o.in > 0 && o.out > 0, "recurrent: widths in and out are ", o.in, " and ", o.out, "; expected more than 0");
  check(!o.bidirectional || o.out % 2 == 0, "recurrent: out is ", o.out,
        " for two directions; expected an even width, half for each");
  check(o.layers >= 1, "recurrent: ", o.layers, " layers, expected at least 1");
  check(o.dropout >= 0 && o.dropout < 1, "recurrent: dropout is ", o.dropout, ", expected 0 <= dropout < 1");
  reset();
}

void RecurrentImpl::reset() {
  const auto& o = options_;
  const int64_t width = o.bidirectional ? o.out / 2 : o.out;
  const double dropout = o.layers > 1 ? o.dropout : 0;
  const auto set = [&](auto options) {
    return options.num_layers(o.layers).bidirectional(o.bidirectional).batch_first(true).dropout(dropout);
  };
  if (o.cell == Cell::gru)
    gru_ = register_module("gru", torch::nn::GRU(set(torch::nn::GRUOptions(o.in, width))));
  else
    lstm_ = register_module("lstm", torch::nn::LSTM(set(torch::nn::LSTMOptions(o.in, width))));
}

void RecurrentImpl::pretty_print(std::ostream& stream) const {
  const auto& o = options_;
  stream << "heed::Recurrent(" << (o.cell == Cell::gru ? "gru" : "lstm") << ", in " << o.in << ", out " << o.out
         << ", layers " << o.layers << (o.bidirectional ? ", bidirectional" : "") << ")";
}

/// Of the last layer, its directions side by side: states [layers * directions, N, width].
Tensor RecurrentImpl::final_state(const Tensor& states) const {
  const int64_t directions = options_.bidirectional ? 2 : 1;
  return states.narrow(0, states.size(0) - directions, directions).transpose(0, 1).flatten(1);  // [N, out]
}

RecurrentImpl::Passed RecurrentImpl::pass(const Tensor& rows) {
  if (options_.cell == Cell::gru) {
    const auto [states, last] = gru_->forward(rows);
    return {states, final_state(last)};
  }
  const auto [states, last] = lstm_->forward(rows);
  return {states, final_state(std::get<0>(last))};
}

RecurrentImpl::Passed RecurrentImpl::pass_real(const Tensor& rows, const Tensor& keep) {
  const auto order = real_first(keep);
  const auto counts = keep.sum(1);  // [N]
  // An empty row passes as one zero, and its answer is thrown away: packing wants at least one.
  const auto packed = torch::nn::utils::rnn::pack_padded_sequence(reordered(rows, order), counts.clamp_min(1).cpu(),
                                                                  /*batch_first=*/true, /*enforce_sorted=*/false);
  Tensor states, last;
  torch::nn::utils::rnn::PackedSequence passed = packed;
  if (options_.cell == Cell::gru) {
    std::tie(passed, last) = gru_->forward_with_packed_input(packed);
  } else {
    std::tuple<Tensor, Tensor> ends;
    std::tie(passed, ends) = lstm_->forward_with_packed_input(packed);
    last = std::get<0>(ends);
  }
  std::tie(states, std::ignore) =
      torch::nn::utils::rnn::pad_packed_sequence(passed, /*batch_first=*/true, 0.0, keep.size(1));
  return {reordered(states, order.argsort(int64_t{1})), final_state(last)};
}

Encoded RecurrentImpl::encode(const Features& features) {
  const auto& o = options_;
  const auto& rows = features.rows;
  check(rows.defined() && rows.dim() >= 3 && rows.size(-1) == o.in, "recurrent: features are ", shape_of(rows),
        ", expected [B, L, ", o.in, "]");
  check_type("recurrent: features", rows, parameters().front());
  check_keep("recurrent: features", features);
  auto places = rows.sizes().vec();  // [B, ..., L]
  places.pop_back();
  auto wide = places;
  wide.push_back(o.out);
  auto ends = wide;
  ends.erase(ends.end() - 2);
  if (rows.numel() == 0) return {features.with_rows(rows.new_zeros(wide)), rows.new_zeros(ends)};

  const Features clean = features.without_padding();
  const auto flat = clean.rows.reshape({-1, rows.size(-2), o.in});  // [N, L, in]
  if (!features.keep.defined()) {
    const Passed passed = pass(flat);
    return {features.with_rows(passed.rows.view(wide)), passed.last.view(ends)};
  }
  const Passed passed = pass_real(flat, features.keep.reshape({-1, rows.size(-2)}));
  const auto nothing = at::zeros({}, rows.options());
  return {features.with_rows(passed.rows.view(wide)).without_padding(),
          at::where(features.keep.any(-1, /*keepdim=*/true), passed.last.view(ends), nothing)};
}

}  // namespace heed
