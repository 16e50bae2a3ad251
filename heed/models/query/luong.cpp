// Queries of Luong et al. (2015): the updated state is the query; the output is fed to the next step.

#include "heed/structures/decode/luong.h"

#include "heed/models/query/recurrent_query.h"

namespace heed {
namespace {

struct LuongValues {
  bool feeding = true;
};

const RecipeTable<LuongValues> luong_keys{
    {"feeding", &LuongValues::feeding, "input feeding: the previous output is part of the input"}};

class LuongQuery final : public RecurrentQuery<LuongDecoder> {
 public:
  static RecipeKeyList keys() { return all_keys({decoder_keys("lstm"), luong_keys.list()}); }
  LuongQuery(const Settings& s, const QueryOptions& options)
      : RecurrentQuery(read_decoder(s, options, "lstm"), options.attention) {
    options_.input_feeding = luong_keys.read(s).feeding;
  }
};

const QueryEntry<LuongQuery> luong_query_entry{
    "luong",
    {.features = "recurrent", .mechanism = "general + softmax"},
    {.formula = "h_t = cell([y_{t-1}; h~_{t-1}], h_{t-1}), c_t = Att(h_t, F), h~_t = tanh(W_c [c_t; h_t])",
     .paper = "Luong et al., 2015",
     .choose = "global or local attention (align: local_m, local_p), input feeding",
     .order = 2}};

}  // namespace
}  // namespace heed
