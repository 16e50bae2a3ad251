// Queries of Bahdanau et al. (2015): the previous state is the query, and the context is an input of the next state.

#include "heed/structures/decode/bahdanau.h"

#include "heed/models/query/recurrent_query.h"

namespace heed {

DecoderOptions read_decoder(const Settings& s, const QueryOptions& options, const std::vector<std::string>& cells) {
  DecoderOptions o;
  o.embedding_dim = options.embedding;
  o.source_dim = o.start_dim = options.source;
  o.state_dim = s.integer("state_dim", 512, 1, kMaxWidth);
  o.out_dim = s.integer("out_dim", 0, 0, kMaxWidth);
  if (o.out_dim == 0) o.out_dim = options.embedding;
  o.cell = s.choice("cell", cells) == "gru" ? Cell::gru : Cell::lstm;
  o.context_gate = s.flag("gate", false);
  o.mechanism = options.attention.mechanism;
  o.structure = options.attention.structure;
  o.num_heads = std::max<int64_t>(1, options.attention.heads);
  o.hidden_dim = options.attention.hidden;
  o.dropout = options.attention.dropout;
  return o;
}

namespace {

class BahdanauQuery final : public RecurrentQuery<BahdanauDecoder> {
 public:
  BahdanauQuery(const Settings& s, const QueryOptions& options) {
    DecoderOptions o = read_decoder(s, options, {"gru", "lstm"});
    const auto readout = s.choice("readout", {"tanh", "maxout", "linear"});
    o.readout = readout == "tanh" ? Readout::tanh : readout == "maxout" ? Readout::maxout : Readout::linear;
    hold(o);
  }
};

const QueryModel::Parts::Entry bahdanau_query_entry{
    "bahdanau",
    make_component<QueryModel, BahdanauQuery, Settings, QueryOptions>,
    {.formula = "c_i = Att(s_{i-1}, F), s_i = cell([y_{i-1}; c_i], s_{i-1}), t_i = readout([s_i; y_{i-1}; c_i])",
     .paper = "Bahdanau et al., 2015",
     .choose = "little data; with fixed it is the decoder of Cho et al., 2014",
     .order = 1}};

}  // namespace
}  // namespace heed
