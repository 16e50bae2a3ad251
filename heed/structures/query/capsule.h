// Losses for the structure capsule(classes).

#pragma once

#include "heed/structures/structure.h"

namespace heed {

/// Form of the hinge loss, applied to x = probabilities and to x = similarities and summed. y is the true class, C the
/// number of classes:
///
///   code    (1 / C) sum_{i != y} max(0, 1 - x_y + x_i)        the authors' code; the default
///   paper   max(0, 1 - x_y + sum_{i != y} x_i)
///
/// For two classes they differ only by the factor 1 / C. For more classes, the paper's single hinge lets a
/// well-separated class compensate for a badly separated one.
enum class CapsuleLoss { code, paper };

/// The loss, averaged over the batch. capsules: output of the structure; classes: int64 [B]. Throws Error for a class
/// that does not exist.
Tensor capsule_loss(const StructureOutput& capsules, const Tensor& classes, CapsuleLoss form = CapsuleLoss::code);

}  // namespace heed
