// A temporary folder for a test, removed afterwards with its content.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

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
  ~Folder() { remove(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  /// Names in a folder, sorted, including hidden ones.
  static std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> all;
    DIR* const open = ::opendir(folder.c_str());
    for (const dirent* entry = open ? ::readdir(open) : nullptr; entry; entry = ::readdir(open)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") all.push_back(name);
    }
    if (open) ::closedir(open);
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  static void remove(const std::string& path) {
    if (::unlink(path.c_str()) == 0) return;  // removes a link to a folder, not the folder
    for (const auto& name : names(path)) remove(path + "/" + name);
    ::rmdir(path.c_str());
  }

  std::string path_;
};

/// The message of the Error that `action` throws.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace heed::testing
