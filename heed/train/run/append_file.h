// An append-only file. A checkpoint stores its size, and resuming truncates the file to that size, so that nothing is
// missing or duplicated.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

class AppendFile {
 public:
  /// Opens or creates the file; an Error names its path.
  explicit AppendFile(std::string path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends all bytes or none: if the disk is full, the file is truncated to its old size and a WriteError is thrown.
  void append(std::string_view bytes);
  /// Size in bytes, after an fsync.
  int64_t synced_size() const;
  bool empty() const { return size_ == 0; }
  /// Truncates the file; an Error if it is shorter.
  void truncate_to(int64_t bytes);

 private:
  std::string path_;
  int file_ = -1;
  int64_t size_ = 0;
};

}  // namespace heed
