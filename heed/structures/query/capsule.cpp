// Capsule-based attention (Wang et al., 2018): one learned query per class, whose context gives the probability.
//
//   e_l = q_c . f_l,   v_c = sum_l a_l f_l,   p_c = sigmoid(w_c . v_c + b_c),   r_c = p_c v_c
//
// The context is r [B, C, D]. Additional outputs: "probabilities" [B, C], p; "similarities" [B, C], the mean feature .
// r_c. The prediction is the most probable class. The losses are in heed/structures/query/capsule.h: the capsule of the
// true class should be similar to the input, the others should not.

#include "heed/structures/query/capsule.h"

#include <algorithm>

namespace heed {
namespace {

class Capsule final : public Structure {
 public:
  Capsule(const Options& spec, const StructureOptions& options)
      : Structure(options, "softmax"), classes_(spec.integer("classes", 2)) {
    check(classes_ >= 1, "capsule: classes is ", classes_, ", expected at least 1");
    query_ = parameter("query", {classes_, width_of(0)});
    attend_ = slot("attend", width_of(0), width_of(0));
    to_probability_ = parameter("to_probability", {classes_, width_of(0)});
    bias_ = parameter("bias", {classes_}, kZeros);
  }

  StructureSignature takes() const override { return {.features = {"features"}}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto query = query_.expand({in.features[0].batch(), -1, -1});
    const auto found = attend_(out, query, in.features[0], in.call);                    // [B, C, D]
    const auto probabilities = at::sigmoid((found * to_probability_).sum(-1) + bias_);  // [B, C]
    out.context = probabilities.unsqueeze(-1) * found;                                  // [B, C, D]
    out.also["probabilities"] = probabilities;
    out.also["similarities"] = at::matmul(out.context, mean(in.features[0]).transpose(1, 2)).squeeze(-1);  // [B, C]
    return out;
  }

  int64_t classes_;
  Slot attend_;
  Tensor query_, to_probability_, bias_;  // [C, D], [C, D], [C]
};

const Structure::Parts::Entry capsule_entry{
    "capsule",
    make_structure<Capsule>,
    {.formula = "v_c = Att(q_c, F), p_c = sigmoid(w_c . v_c + b_c), r_c = p_c v_c",
     .paper = "Wang et al., 2018",
     .cost = "C Lk D",
     .choose = "classification where each class shows what speaks for it",
     .axis = "queries",
     .variants = {"capsule(classes=3)", "capsule(classes=1)"},
     .synonyms = {"capsule_based"},
     .order = 7}};

/// x [B, C], right [B, C] true at the class y  ->  [B].
Tensor hinge(const Tensor& x, const Tensor& right, CapsuleLoss form) {
  const auto of_right = x.masked_fill(right.logical_not(), 0.0).sum(1, /*keepdim=*/true);  // [B, 1]
  if (form == CapsuleLoss::paper) return (1 - of_right.squeeze(1) + x.masked_fill(right, 0.0).sum(1)).clamp_min(0);
  const auto each = (1 - of_right + x).clamp_min(0);
  return each.masked_fill(right, 0.0).sum(1) / static_cast<double>(x.size(1));
}

Tensor of_capsules(const StructureOutput& capsules, const std::string& name) {
  const auto found = capsules.also.find(name);
  check(found != capsules.also.end(), "capsule: got no ", name, ", expected the output of the structure capsule");
  return found->second;
}

}  // namespace

Tensor capsule_loss(const StructureOutput& capsules, const Tensor& classes, CapsuleLoss form) {
  const auto probabilities = of_capsules(capsules, "probabilities");
  const auto similarities = of_capsules(capsules, "similarities");
  const int64_t B = probabilities.size(0), C = probabilities.size(1);
  check(classes.defined() && classes.scalar_type() == at::kLong && classes.dim() == 1 && classes.size(0) == B,
        "capsule: classes is ", shape_of(classes), ", expected int64 [", B, "]");
  check(B == 0 || !classes.device().is_cpu() ||  // reading them would wait for a GPU
            (classes.min().item<int64_t>() >= 0 && classes.max().item<int64_t>() < C),
        "capsule: a class is not one of 0 to ", C - 1);
  const auto right = at::arange(C, classes.options()).unsqueeze(0) == classes.unsqueeze(1);  // [B, C]
  const auto rows = hinge(probabilities, right, form) + hinge(similarities, right, form);
  return rows.sum() / static_cast<double>(std::max<int64_t>(B, 1));
}

}  // namespace heed
