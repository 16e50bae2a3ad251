// A file that only grows, except when a run goes back to a checkpoint: the checkpoint remembers size(), and resuming
// cuts the file to it, so that nothing is missing and nothing stands there twice.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

class AppendFile {
 public:
  /// Opens the file, or makes it. Errors call it by its path.
  explicit AppendFile(std::string path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// All of the bytes or none of them: on a full disk the file is cut back.
  void append(std::string_view bytes);
  /// Bytes, all of them on the disk.
  int64_t synced_size() const;
  bool empty() const { return size_ == 0; }
  void truncate_to(int64_t bytes);

 private:
  std::string path_;
  int file_ = -1;
  int64_t size_ = 0;
};

}  // namespace heed
