// What the tests of files and texts share: a folder of their own, and what an error says.

#pragma once

#include <cstdlib>
#include <dirent.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"

namespace heed::testing {

/// The names in a folder.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  for (const dirent* entry = open ? ::readdir(open) : nullptr; entry; entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (open) ::closedir(open);
  return names;
}

/// A folder of its own for every test, gone afterwards with the files in it.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string pattern = ::testing::TempDir() + "heed_data_XXXXXX";
    check(::mkdtemp(pattern.data()) != nullptr, "no temporary folder in ", ::testing::TempDir());
    folder_ = pattern;
  }
  ~FolderTest() override { remove(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Some file systems wait for the disk when a file is emptied and written again, hence the unlink.
  std::string write(const std::string& name, const std::string& bytes) const {
    ::unlink(path(name).c_str());
    FILE* const file = std::fopen(path(name).c_str(), "wb");
    check(file != nullptr, "cannot write ", path(name));
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    return path(name);
  }

  std::string folder_;

 private:
  static void remove(const std::string& path) {
    if (is_folder(path)) {
      for (const auto& name : names_in(path)) remove(path + "/" + name);
    }
    ::remove(path.c_str());
  }
};

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

inline ::testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    if (message.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << message << "\n  lacks: " << part;
    }
  }
  return ::testing::AssertionSuccess();
}

/// The folder of real data; a test that needs it is skipped where it is absent.
inline std::string data_folder() {
  const char* given = std::getenv("HEED_DATA");
  return std::string(given != nullptr ? given : "../shared/data") + "/";
}

}  // namespace heed::testing
