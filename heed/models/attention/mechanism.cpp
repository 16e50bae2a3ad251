// Attention by a mechanism: every query attends to all features.
//
//   model.attention: additive + softmax        or    {score: additive, align: softmax, dimensionality: single}
//
// The key `structure` puts the mechanism into a structure of one query and one input: multi_hop(hops=2).

#include "heed/attention/mechanism.h"

#include <algorithm>

#include "heed/attention/align.h"
#include "heed/attention/score.h"
#include "heed/models/components.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

struct MechanismValues {
  std::string score, align, dimensionality, structure;
  int64_t num_heads = 0, hidden_dim = 0;
  double dropout = 0;
};

const RecipeTable<MechanismValues> mechanism_keys{
    {"score", &MechanismValues::score, "score of the mechanism", {.default_text = "that of `mechanism`"}},
    {"align", &MechanismValues::align, "alignment of the mechanism", {.default_text = "that of `mechanism`"}},
    {"dimensionality",
     &MechanismValues::dimensionality,
     "dimensionality of the mechanism",
     {.default_text = "that of `mechanism`"}},
    {"structure",
     &MechanismValues::structure,
     "structure around the mechanism: `multi_hop(hops=2)`",
     {.default_text = "none"}},
    {"num_heads", &MechanismValues::num_heads, "heads; 0: as many as the query model has", {.min = 0, .max = 1024}},
    {"hidden_dim",
     &MechanismValues::hidden_dim,
     "hidden width of the score; 0: the width of the keys",
     {.min = 0, .max = kMaxWidth}},
    {"dropout", &MechanismValues::dropout, "dropout on the weights in training", {.min = 0, .max = 0.99}}};

/// Returns make(). Its Error is rethrown as an error about the recipe's key.
template <typename Make>
auto read_spec(const Settings& settings, const std::string& key, const std::string& value, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    settings.refuse(key, "is '", value, "': ", error.what());
  }
}

AttentionSpec read_attention(const Settings& s, const std::string& spec) {
  const auto defaults = read_spec(s, "mechanism", spec, [&] { return Mechanism::parse(spec).parts(); });
  const MechanismValues v = mechanism_keys.read(s, {.score = defaults.score.to_string(),
                                                    .align = defaults.align.to_string(),
                                                    .dimensionality = defaults.dimensionality.to_string(),
                                                    .structure = ""});
  read_spec(s, "score", v.score, [&] { return Catalogue<Score>::make(v.score); });
  read_spec(s, "align", v.align, [&] { return Catalogue<Alignment>::make(v.align); });
  const std::string all = v.score + " + " + v.align + (v.dimensionality == "single" ? "" : ", " + v.dimensionality);
  const auto structures = Structure::Parts::names();
  const std::string name = v.structure.substr(0, v.structure.find('('));
  const std::string mechanism =
      read_spec(s, "dimensionality", v.dimensionality, [&] { return Mechanism::parse(all).to_string(); });
  if (!name.empty() && std::find(structures.begin(), structures.end(), name) == structures.end())
    s.refuse("structure", "is '", v.structure, "'", suggestion(name, structures),
             ", expected a structure of one query and one input, such as multi_hop(hops=2)");
  return {mechanism, v.structure, v.num_heads, v.hidden_dim, v.dropout};
}

class MechanismAttention final : public AttentionModel {
 public:
  static RecipeKeyList keys() { return mechanism_keys.list(); }
  MechanismAttention(const Settings& settings, const std::string& spec)
      : AttentionModel(read_attention(settings, spec)) {}
  bool aligns() const override { return Mechanism::parse(spec().mechanism).parts().align.name != "uniform"; }
};

const ComponentEntry<AttentionModel, MechanismAttention> mechanism_entry{
    "mechanism",
    {.formula = "c_i = sum_j a_ij f_j, a = align(score(q_i, f_j))",
     .paper = "Bahdanau et al., 2015",
     .choose = "what is needed of the input differs from step to step",
     .order = 1}};

}  // namespace
}  // namespace heed
