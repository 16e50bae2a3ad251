#include "apps/cli/program_name.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

#include <climits>

#include "heed/base/shell.h"

namespace heed::cli {
namespace {

bool is_on_path(const std::string& name, const std::string& path) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access(((folder.empty() ? "." : folder) + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::string program_name(const std::string& started_as, const std::string& path, const std::string& self) {
  const bool works = started_as.find('/') != std::string::npos || is_on_path(started_as, path);
  return quoted_for_shell(works || self.empty() ? started_as : self);
}

std::string program_name() {
  const char* path = std::getenv("PATH");
  return program_name(program_invocation_name, path == nullptr ? "" : path, program_file());
}

std::string pasteable(const std::string& command) {
  std::string text = command;
  const size_t at = text.find("{}");
  return at == std::string::npos ? text : text.replace(at, 2, program_name());
}

std::string program_file() {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  return length < 0 ? "" : self.data();
}

}  // namespace heed::cli
