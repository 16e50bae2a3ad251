// The output model of a classifier: from the context of a text, or of each of its tokens, to labels.
//
//   softmax         one of several classes                    one label
//   sigmoid         a probability for each class              several labels
//   regression      a number                                  a number
//   token_softmax   one of several classes for each token     a label for each word
//   capsule         the probabilities of the structure capsule, with its losses (Wang et al., 2018)
//
// An output model is one file in heed/models/classify/output with an entry in the catalogue.

#pragma once

#include <cstdint>

#include "heed/models/classify/labels.h"
#include "heed/models/components.h"
#include "heed/structures/structure.h"

namespace heed {

/// The context of texts.
struct Pooled {
  Tensor rows{};             // [B, D], or [B, L, D] with a context for each token
  Tensor keep{};             // [B, L] where there is one for each token
  StructureOutput output{};  // of the structure, if there is one: steps and additional outputs
};

struct LabelLossOptions {
  double smoothing = 0;  // label smoothing
  Tensor weights{};      // float [C]: of the classes; undefined: 1
};

class LabelOutput : public torch::nn::Module {
 public:
  static constexpr auto kKind = "label output model";
  using Parts = Catalogue<LabelOutput, Settings>;  // recipe below model.output

  /// A token without a label: a piece that is not the first of its word, and padding.
  static constexpr int64_t kNoLabel = -100;

  virtual LabelForm form() const = 0;
  /// Whether loss() follows its options.
  virtual bool takes_options() const { return true; }
  /// Makes the modules. like: the context of some texts. Throws Error if it does not fit.
  virtual void build(const Pooled& like, const LabelSet& labels) = 0;
  /// The loss, summed over texts or tokens. wanted: one int64 [B], several float [B, C], number float [B] in deviations
  /// from the mean, tokens int64 [B, L] with kNoLabel.
  virtual Tensor loss(const Pooled& context, const Tensor& wanted, const LabelLossOptions& options) = 0;
  /// Probabilities [B, C], for each token [B, L, C]; of regression the number [B, 1], in deviations from the mean.
  virtual Tensor predict(const Pooled& context) = 0;
};

}  // namespace heed
