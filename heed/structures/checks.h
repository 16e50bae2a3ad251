// What structures, encoders and decoders ask of the tensors they are given.

#pragma once

#include <string>

#include "heed/structures/features.h"

namespace heed {

/// x must have the type of a module's parameters, one of which is `own`, and be where they are.
inline void check_type(const std::string& what, const Tensor& x, const Tensor& own) {
  check(x.scalar_type() == own.scalar_type(), what, " is ", x.scalar_type(), ", the module's parameters are ",
        own.scalar_type(), "; convert one of them");
  check(x.device() == own.device(), what, " is on ", x.device(), ", the module's parameters on ", own.device(),
        "; move one of them");
}

/// Attention knows no other types.
inline void check_attendable(const std::string& what, const Tensor& x) {
  check(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble, what, " is ", x.scalar_type(),
        ", expected float or double");
}

/// keep: one flag for each row, if there are any.
inline void check_keep(const std::string& what, const Features& x) {
  if (!x.keep.defined()) return;
  check(x.keep.scalar_type() == at::kBool && x.keep.sizes() == x.rows.sizes().slice(0, x.rows.sizes().size() - 1), what,
        ": keep is ", x.keep.scalar_type(), " ", shape_of(x.keep), ", expected bool of shape ", shape_of(x.rows),
        " without the last axis");
  check(x.keep.device() == x.rows.device(), what, ": keep is on ", x.keep.device(), ", the rows on ", x.rows.device(),
        "; move one of them");
}

}  // namespace heed
