// Affinities between the features of two inputs without an n1 x n2 matrix: they are written as dot products, which
// attention computes block by block. The score of a feature is the affinity of its best match.

#pragma once

#include <string>

#include "heed/structures/structure.h"

namespace heed {

/// The common width of both inputs. Throws Error if they differ: "structure/bidaf: ...".
int64_t same_width(const std::string& structure, int64_t first, int64_t second);

/// The call for an attention that computes scores: keeps path and block size, drops noise and requested outputs.
Call inner_call(const Call& call);

/// Two inputs whose dot products are their affinities.
struct Sides {
  Features first, second;  // rows [B, n1, *] and [B, n2, *]
};

/// Trilinear affinity (Seo et al., 2017):   A_ij = w . [x_i; y_j; x_i * y_j],   w = [w_x; w_y; w_xy] [3D]
///
///   = w_x . x_i + w_y . y_j + (w_xy * x_i) . y_j = [w_xy * x_i; w_x . x_i; 1] . [y_j; 1; w_y . y_j]
///
/// The rows of the result are D + 2 wide.
Sides trilinear_sides(const Tensor& weight, const Features& first, const Features& second);

/// Max scoring:   e_i = max_j x_i . y_j over the real y_j, rows [B, n, 1]. The gradient goes to the best y_j alone, the
/// first of equal ones. If no y_j is real, every e_i is padding.
Features best_matches(const Features& of, const Features& among, const Call& call);

/// Ones [B, 1, 1]: with this query, the `dot` score of keys [B, n, 1] is the key itself.
Tensor unit_query(const Features& features);

}  // namespace heed
