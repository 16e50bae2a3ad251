// Files, by POSIX calls. Every Error names the path and the system's reason.
//
// Writes are atomic: the bytes go to a temporary file next to the path, are synced to disk (fsync), and then renamed to
// the path (with an fsync of the folder). A full disk or a kill leaves the old file unchanged; a kill may leave the
// temporary file `<path>.<process>.<number>.part`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/check.h"

namespace heed {

/// A file cannot be written: full disk, size limit, missing permission.
struct WriteError : Error {
  using Error::Error;
};

/// A regular file, open for reading at any offset. Anything else (folder, device) is an Error.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Bytes.
  uint64_t size() const { return size_; }
  /// Reads `bytes` bytes at offset `from` into `to`; a shorter file is an Error.
  void read(void* to, uint64_t bytes, uint64_t from) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
};

/// A file that replaces `path` at finish(). Without finish(), the destructor removes the temporary file.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const void* from, uint64_t bytes);
  void finish();

 private:
  std::string path_, target_, beside_;  // target_: path with symbolic links resolved; beside_: temporary file
  int descriptor_ = -1;
  bool complete_ = false;
};

/// All bytes of a file.
std::string read_file(const std::string& path);
/// Replaces the file by these bytes, or leaves it unchanged and throws.
void write_atomically(const std::string& path, std::string_view bytes);

/// Creates the folder and its missing parents.
void make_folders(const std::string& path);

/// The path of a file that is named relative to a folder. Absolute paths, "-" and "" stay as they are.
std::string below_folder(const std::string& folder, const std::string& path);

bool exists(const std::string& path);
bool is_folder(const std::string& path);

}  // namespace heed
