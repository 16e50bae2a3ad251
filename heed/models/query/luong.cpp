// Queries of Luong et al. (2015): the updated state is the query; the output is fed to the next step.

#include "heed/structures/decode/luong.h"

#include "heed/models/query/recurrent_query.h"

namespace heed {
namespace {

class LuongQuery final : public RecurrentQuery<LuongDecoder> {
 public:
  LuongQuery(const Settings& s, const QueryOptions& options) {
    DecoderOptions o = read_decoder(s, options, {"lstm", "gru"});
    o.input_feeding = s.flag("feeding", true);
    hold(o);
  }
};

const QueryModel::Parts::Entry luong_query_entry{
    "luong",
    make_component<QueryModel, LuongQuery, Settings, QueryOptions>,
    {.formula = "h_t = cell([y_{t-1}; h~_{t-1}], h_{t-1}), c_t = Att(h_t, F), h~_t = tanh(W_c [c_t; h_t])",
     .paper = "Luong et al., 2015",
     .choose = "global or local attention (align: local_m, local_p), input feeding",
     .order = 2}};

}  // namespace
}  // namespace heed
