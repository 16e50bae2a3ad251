// Checks of input tensors, shared by structures, encoders and decoders. They throw Error.

#pragma once

#include <string>

#include "heed/structures/features.h"

namespace heed {

/// x must have the dtype and the device of the module's parameters; `own` is one of them.
inline void check_type(const std::string& what, const Tensor& x, const Tensor& own) {
  check(x.scalar_type() == own.scalar_type(), what, " is ", x.scalar_type(), ", the module's parameters are ",
        own.scalar_type(), "; convert one of them");
  check(x.device() == own.device(), what, " is on ", x.device(), ", the module's parameters on ", own.device(),
        "; move one of them");
}

/// x must be float or double, the types that attention supports.
inline void check_attendable(const std::string& what, const Tensor& x) {
  check(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble, what, " is ", x.scalar_type(),
        ", expected float or double");
}

/// keep, if defined, must be bool, with the shape of rows without the last axis, and on the same device.
inline void check_keep(const std::string& what, const Features& x) {
  if (!x.keep.defined()) return;
  check(x.keep.scalar_type() == at::kBool && x.keep.sizes() == x.rows.sizes().slice(0, x.rows.sizes().size() - 1), what,
        ": keep is ", x.keep.scalar_type(), " ", shape_of(x.keep), ", expected bool of shape ", shape_of(x.rows),
        " without the last axis");
  check(x.keep.device() == x.rows.device(), what, ": keep is on ", x.keep.device(), ", the rows on ", x.rows.device(),
        "; move one of them");
}

}  // namespace heed
