// The probabilities of the structure capsule, which has a query for each class, with its losses (Wang et al., 2018):
// the capsule of the true class is to be probable and similar to the text, the others are not. The probabilities of a
// capsule are independent; what is predicted is their share of the sum.

#include "heed/structures/query/capsule.h"

#include "heed/base/check.h"
#include "heed/models/classify/label_output.h"

namespace heed {
namespace {

constexpr const char* kProbabilities = "probabilities";

struct CapsuleValues {
  std::string loss = "code";
};

const RecipeTable<CapsuleValues> capsule_keys{
    {"loss",
     &CapsuleValues::loss,
     "hinge loss of the authors' code, or of the paper; they differ for more than two classes",
     {.choices = {"code", "paper"}}}};

class CapsuleLabels final : public LabelOutput {
 public:
  static RecipeKeyList keys() { return capsule_keys.list(); }
  explicit CapsuleLabels(const Settings& settings)
      : loss_(capsule_keys.read(settings).loss == "code" ? CapsuleLoss::code : CapsuleLoss::paper) {}
  LabelForm form() const override { return LabelForm::one; }
  bool takes_options() const override { return false; }
  void build(const Pooled& like, const LabelSet& labels) override {
    const auto found = like.output.also.find(kProbabilities);
    check(found != like.output.also.end(), "model.output is capsule, but the structure has no capsules; expected ",
          "model.attention.structure: capsule(classes=", labels.size(), ")");
    check(found->second.size(1) == labels.size(), "model.output is capsule with ", labels.size(),
          " classes, but the structure has ", found->second.size(1), " capsules; expected ",
          "model.attention.structure: capsule(classes=", labels.size(), ")");
  }
  Tensor loss(const Pooled& context, const Tensor& wanted, const LabelLossOptions&) override {
    return capsule_loss(context.output, wanted, loss_) * static_cast<double>(wanted.size(0));
  }
  Tensor predict(const Pooled& context) override {
    const Tensor p = context.output.also.at(kProbabilities).to(at::kFloat);
    return p / p.sum(1, /*keepdim=*/true).clamp_min(1e-30);
  }

 private:
  CapsuleLoss loss_;
};

const ComponentEntry<LabelOutput, CapsuleLabels> capsule_output_entry{
    "capsule",
    {.formula = "p(y) = p_y / sum_k p_k, p_k of the capsules",
     .paper = "Wang et al., 2018",
     .choose = "with the structure capsule(classes=C)",
     .order = 5}};

}  // namespace
}  // namespace heed
