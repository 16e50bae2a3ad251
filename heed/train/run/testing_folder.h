// A folder of its own for a test, gone afterwards with the files in it.

#pragma once

#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed::testing {

class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "heed_run_XXXXXX";
    check(::mkdtemp(pattern.data()) != nullptr, "no temporary folder in ", ::testing::TempDir());
    path_ = pattern;
  }
  ~Folder() {
    DIR* const open = ::opendir(path_.c_str());
    for (const dirent* entry = open ? ::readdir(open) : nullptr; entry; entry = ::readdir(open))
      ::unlink((path_ + "/" + entry->d_name).c_str());
    if (open) ::closedir(open);
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

/// What an action says when it refuses.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace heed::testing
