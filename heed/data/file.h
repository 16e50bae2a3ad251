// Files, by POSIX calls. Every error names the path and says in the system's words what was wrong.
//
// What is written here appears whole or not at all: the bytes go to a file beside the path, reach the disk (fsync), and
// only then take the path's place (rename, and fsync of the folder). A full disk or a kill leaves the old file as it
// was; a kill may leave the unfinished `<path>.<process>.<number>.part` after.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/check.h"

namespace heed {

/// A file that could not be written: a full disk, a limit, a folder without permission.
struct WriteError : Error {
  using Error::Error;
};

/// A regular file, open for reading at any place.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  uint64_t size() const { return size_; }
  void read(void* to, uint64_t bytes, uint64_t from) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
};

/// A file that takes its path's place at finish(), and leaves no trace without it.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const void* from, uint64_t bytes);
  void finish();

 private:
  std::string path_, target_, beside_;  // target_: the path without links, so that a link stays one
  int descriptor_ = -1;
  bool complete_ = false;
};

std::string read_file(const std::string& path);
void write_atomically(const std::string& path, std::string_view bytes);

/// The folder and those above it, where they are missing.
void make_folders(const std::string& path);

bool exists(const std::string& path);
bool is_folder(const std::string& path);

}  // namespace heed
