// The losses of capsules, the structure capsule(classes).

#pragma once

#include "heed/structures/structure.h"

namespace heed {

/// On x = probabilities and on x = similarities, added up; y is the right class, C the number of classes:
///
///   code    (1 / C) sum_{i != y} max(0, 1 - x_y + x_i)        the authors' code; the default
///   paper   max(0, 1 - x_y + sum_{i != y} x_i)
///
/// For two classes they differ by the factor 1 / C alone; for more, the paper's single hinge lets one good class make
/// up for a bad one.
enum class CapsuleLoss { code, paper };

/// capsules: what the structure gave; classes int64 [B]. The mean over batch rows.
Tensor capsule_loss(const StructureOutput& capsules, const Tensor& classes, CapsuleLoss form = CapsuleLoss::code);

}  // namespace heed
