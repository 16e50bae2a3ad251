// Finds calls that wait for a GPU: .item(), nonzero(), copies from memory that is not pinned.

#pragma once

namespace heed {

/// Scope guard: a call of torch that waits for the GPU throws (torch's sync debug mode). Tests open it around what must
/// not wait.
class NoWaiting {
 public:
  /// Whether this build can tell.
  static bool available();

  NoWaiting();
  ~NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;

 private:
  int before_ = 0;
};

}  // namespace heed
