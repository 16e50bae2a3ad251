// What two inputs have to do with each other, feature by feature, without the n1 x n2 of it: affinities as dot
// products, which the core streams, and the best match of each feature as its score.

#pragma once

#include <string>

#include "heed/structures/structure.h"

namespace heed {

/// The width of both inputs. Refuses those that differ: "structure/bidaf: ...".
int64_t same_width(const std::string& structure, int64_t first, int64_t second);

/// For a use of the core inside a score: the path and the blocks of the call, neither its noise nor its wants.
Call inner_call(const Call& call);

/// Two inputs whose dot products are their affinities.
struct Sides {
  Features first, second;  // rows [B, n1, *] and [B, n2, *]
};

/// Trilinear affinity (Seo et al., 2017):   A_ij = w . [x_i; y_j; x_i * y_j],   w = [w_x; w_y; w_xy] [3D]
///
///   = w_x . x_i + w_y . y_j + (w_xy * x_i) . y_j = [w_xy * x_i; w_x . x_i; 1] . [y_j; 1; w_y . y_j]
///
/// Rows become D + 2 wide.
Sides trilinear_sides(const Tensor& weight, const Features& first, const Features& second);

/// Max scoring:   e_i = max_j x_i . y_j over the real y_j [B, n, 1]. The gradient goes to the best y_j alone, of equals
/// to the first. Over an input without real features there is no maximum: then no e_i is real.
Features best_matches(const Features& of, const Features& among, const Call& call);

/// The query under which `dot` scores keys [B, n, 1] by what they hold: 1 [B, 1, 1].
Tensor unit_query(const Features& features);

}  // namespace heed
