// The lock of a folder that one process writes to: .lock, which contains host and process id. The kernel releases it
// when the process ends, however that happens, so it never has to be removed by hand. Reading a folder needs no lock.

#pragma once

#include <string>

namespace heed {

/// An exclusive flock on <folder>/.lock, released when this object or the process ends.
class FolderLock {
 public:
  static constexpr const char* kName = ".lock";

  /// Names in messages: the command that locks, the folder as the user knows it, and how to name another one, if that
  /// is possible.
  struct Names {
    std::string command, folder, option;
  };

  /// An Error if another process holds the lock; the message names it.
  FolderLock(const std::string& folder, const Names& names);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// To be called after the folder is renamed.
  void moved_to(const std::string& folder) { folder_ = folder; }
  /// "process 4711 on host node03", or "" if no process holds the lock.
  static std::string holder(const std::string& folder);

 private:
  std::string folder_;
  int descriptor_ = -1;
};

}  // namespace heed
