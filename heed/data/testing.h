// Helpers for tests of files and texts: temporary folders and error messages.

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

/// Names of the entries of a folder.
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

/// Gives every test a temporary folder, which is removed with its files afterwards.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string pattern = ::testing::TempDir() + "heed_data_XXXXXX";
    check(::mkdtemp(pattern.data()) != nullptr, "no temporary folder in ", ::testing::TempDir());
    folder_ = pattern;
  }
  ~FolderTest() override { remove(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Unlinks first: some file systems sync when a file is truncated and written again.
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

/// The message of the Error that `action` throws, or "no error".
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Whether the message contains all parts.
inline ::testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    if (message.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << message << "\n  lacks: " << part;
    }
  }
  return ::testing::AssertionSuccess();
}

/// The folder of real data, HEED_DATA; tests that need missing data are skipped.
inline std::string data_folder() {
  const char* given = std::getenv("HEED_DATA");
  return std::string(given != nullptr ? given : "../shared/data") + "/";
}

}  // namespace heed::testing
