// Queries of Bahdanau et al. (2015): the previous state is the query, and the context is an input of the next state.

#include "heed/structures/decode/bahdanau.h"

#include "heed/models/query/recurrent_query.h"

namespace heed {

namespace {

struct DecoderValues {
  int64_t state_dim = 512, out_dim = 0;
  std::string cell;
  bool gate = false;
};

const RecipeTable<DecoderValues> decoder_table{
    {"state_dim", &DecoderValues::state_dim, "width of the state", {.min = 1, .max = kMaxWidth}},
    {"out_dim",
     &DecoderValues::out_dim,
     "width of what goes to the output model; 0: that of the embeddings",
     {.min = 0, .max = kMaxWidth}},
    {"cell", &DecoderValues::cell, "recurrent cell", {.choices = {"gru", "lstm"}}},
    {"gate", &DecoderValues::gate, "gate on the context (Xu et al., 2015)"}};

}  // namespace

RecipeKeyList decoder_keys(const std::string& default_cell) {
  return decoder_table.list({.cell = default_cell});
}

DecoderOptions read_decoder(const Settings& s, const QueryOptions& options, const std::string& default_cell) {
  const DecoderValues v = decoder_table.read(s, {.cell = default_cell});
  DecoderOptions o;
  o.embedding_dim = options.embedding;
  o.source_dim = o.start_dim = options.source;
  o.state_dim = v.state_dim;
  o.out_dim = v.out_dim == 0 ? options.embedding : v.out_dim;
  o.cell = v.cell == "gru" ? Cell::gru : Cell::lstm;
  o.context_gate = v.gate;
  return o;
}

namespace {

struct BahdanauValues {
  std::string readout = "tanh";
};

const RecipeTable<BahdanauValues> bahdanau_keys{
    {"readout", &BahdanauValues::readout, "how outputs are read out", {.choices = {"tanh", "maxout", "linear"}}}};

class BahdanauQuery final : public RecurrentQuery<BahdanauDecoder> {
 public:
  static RecipeKeyList keys() { return all_keys({decoder_keys("gru"), bahdanau_keys.list()}); }
  BahdanauQuery(const Settings& s, const QueryOptions& options)
      : RecurrentQuery(read_decoder(s, options, "gru"), options.attention) {
    const std::string readout = bahdanau_keys.read(s).readout;
    options_.readout = readout == "tanh" ? Readout::tanh : readout == "maxout" ? Readout::maxout : Readout::linear;
  }
};

const QueryEntry<BahdanauQuery> bahdanau_query_entry{
    "bahdanau",
    {.features = "recurrent", .mechanism = "additive + softmax"},
    {.formula = "c_i = Att(s_{i-1}, F), s_i = cell([y_{i-1}; c_i], s_{i-1}), t_i = readout([s_i; y_{i-1}; c_i])",
     .paper = "Bahdanau et al., 2015",
     .choose = "little data; with fixed it is the decoder of Cho et al., 2014",
     .order = 1}};

}  // namespace
}  // namespace heed
