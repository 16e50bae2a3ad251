// For tests: the message with which an action is refused.

#pragma once

#include <functional>
#include <string>

#include "heed/base/check.h"

namespace heed {

inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

}  // namespace heed
