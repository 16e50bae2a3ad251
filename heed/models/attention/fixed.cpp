// The two baselines without attention: the context is the same at every step.
//
//   fixed   the summary of the feature model: the last states of a recurrent encoder
//           (Sutskever et al., 2014; Cho et al., 2014)
//   mean    the mean of all features: every weight is 1/n
//
// Both are implemented as attention: over a single feature, and with the uniform alignment. Their score is one hidden
// unit wide and gets no gradient.

#include "heed/models/components.h"

namespace heed {
namespace {

class FixedContext final : public AttentionModel {
 public:
  static RecipeKeyList keys() { return {}; }
  FixedContext(const Settings&, const std::string&)
      : AttentionModel({.mechanism = "additive + softmax", .hidden = 1}) {}
  Features seen(const Encoded& encoded) const override { return {encoded.last.unsqueeze(1), {}}; }
  bool has_weights() const override { return false; }
  bool aligns() const override { return false; }
};

class MeanContext final : public AttentionModel {
 public:
  static RecipeKeyList keys() { return {}; }
  MeanContext(const Settings&, const std::string&) : AttentionModel({.mechanism = "additive + uniform", .hidden = 1}) {}
  bool aligns() const override { return false; }
};

const ComponentEntry<AttentionModel, FixedContext> fixed_entry{
    "fixed",
    {.formula = "c_i = the summary of the features",
     .paper = "Sutskever et al., 2014",
     .choose = "as the baseline that attention is measured against",
     .synonyms = {"no_attention", "seq2seq"},
     .order = 3}};
const ComponentEntry<AttentionModel, MeanContext> mean_entry{
    "mean",
    {.formula = "c_i = mean_j f_j",
     .paper = "-",
     .choose = "as the baseline between a summary and attention",
     .order = 2}};

}  // namespace
}  // namespace heed
