// Base of structures whose query is a concatenation, [q; c].
//
// A score that compares query and keys feature by feature (dot, cosine) needs equal widths, and [q; c] is wider than
// the keys. For such a score a matrix <slot>_join projects [q; c] to the width of the keys. Other scores have a query
// matrix of their own, and heads have projections.

#pragma once

#include "heed/structures/structure.h"

namespace heed {

struct JoinedSlot {
  Slot attend;
  Tensor join{};  // [Dk, Dq]; undefined: not needed

  Tensor operator()(StructureOutput& out, const std::vector<Tensor>& query, const Features& features,
                    const Call& call) const {
    const auto whole = beside(query);  // [B, Lq, Dq]
    return attend(out, join.defined() ? at::linear(whole, join) : whole, features, call);
  }
};

class WithJoinedQuery : public Structure {
 protected:
  using Structure::Structure;

  /// query: total width of the concatenated parts.
  JoinedSlot joined_slot(const std::string& name, int64_t query, int64_t keys) {
    JoinedSlot made;
    const bool join = query != keys && options().num_heads == 1 && compares_features(mechanism());
    if (join) made.join = parameter(name + "_join", {keys, query});
    made.attend = slot(name, join ? keys : query, keys);
    return made;
  }

 private:
  /// Whether the mechanism refuses a query and keys of different widths.
  static bool compares_features(const Mechanism& mechanism) {
    try {
      mechanism.parameters({.query_dim = 2, .key_dim = 4, .value_dim = 4, .hidden_dim = 4});
      return false;
    } catch (const Error&) {
      return true;
    }
  }
};

}  // namespace heed
