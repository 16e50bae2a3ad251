// The second step of a call: which backend runs it, and why no other. Paths are chosen here and nowhere else.

#pragma once

#include "heed/backend/backend.h"

namespace heed::backend {

struct Choice {
  const Backend* backend = nullptr;  // null: none has the requested path, see plan.refused
  Plan plan{};
};

Choice plan(const CallRecord& record);

}  // namespace heed::backend
