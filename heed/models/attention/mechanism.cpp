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

/// Returns make(). Its Error is rethrown as an error about the recipe's key.
template <typename Make>
auto read_spec(const Settings& settings, const std::string& key, const std::string& value, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    settings.refuse(key, "is '", value, "': ", error.what());
  }
}

std::string read_mechanism(const Settings& s, const std::string& spec) {
  const auto defaults = read_spec(s, "mechanism", spec, [&] { return Mechanism::parse(spec).parts(); });
  const std::string score = s.text("score", defaults.score.to_string()),
                    align = s.text("align", defaults.align.to_string()),
                    dim = s.text("dimensionality", defaults.dimensionality.to_string());
  read_spec(s, "score", score, [&] { return Catalogue<Score>::make(score); });
  read_spec(s, "align", align, [&] { return Catalogue<Alignment>::make(align); });
  const std::string all = score + " + " + align + (dim == "single" ? "" : ", " + dim);
  return read_spec(s, "dimensionality", dim, [&] { return Mechanism::parse(all).to_string(); });
}

AttentionSpec read_attention(const Settings& s, const std::string& spec) {
  AttentionSpec read;
  read.mechanism = read_mechanism(s, spec);
  read.structure = s.text("structure", "");
  const auto structures = Structure::Parts::names();
  const std::string name = read.structure.substr(0, read.structure.find('('));
  if (!name.empty() && std::find(structures.begin(), structures.end(), name) == structures.end())
    s.refuse("structure", "is '", read.structure, "'", suggestion(name, structures),
             ", expected a structure of one query and one input, such as multi_hop(hops=2)");
  read.heads = s.integer("num_heads", 0, 0, 1024);
  read.hidden = s.integer("hidden_dim", 0, 0, kMaxWidth);
  read.dropout = s.number("dropout", 0, 0, 0.99);
  return read;
}

class MechanismAttention final : public AttentionModel {
 public:
  MechanismAttention(const Settings& settings, const std::string& spec)
      : AttentionModel(read_attention(settings, spec)) {}
  bool aligns() const override { return Mechanism::parse(spec().mechanism).parts().align.name != "uniform"; }
};

const AttentionModel::Parts::Entry mechanism_entry{
    "mechanism",
    make_component<AttentionModel, MechanismAttention, Settings, std::string>,
    {.formula = "c_i = sum_j a_ij f_j, a = align(score(q_i, f_j))",
     .paper = "Bahdanau et al., 2015",
     .choose = "what is needed of the input differs from step to step",
     .order = 1}};

}  // namespace
}  // namespace heed
