#include "heed/data/folder_lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string reason_of_lock(int error) {
  return std::generic_category().message(error);
}

std::string first_line_of(int descriptor) {
  std::array<char, 200> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  std::string line(text.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
  line.resize(std::min(line.size(), line.find('\n')));
  for (char& letter : line)
    if (letter < ' ' || letter > '~') letter = '?';
  return line.empty() ? "another process" : line;
}

std::string own_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on host " + host.data();
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const Names& names) : folder_(folder) {
  const std::string path = folder + "/" + kName;
  for (int tries = 0;; ++tries) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(names.command, ": the lock ", path, " cannot be opened: ", reason_of_lock(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string who = first_line_of(descriptor_);
      ::close(std::exchange(descriptor_, -1));
      if (error == EWOULDBLOCK && tries < 10) {  // holder() of another process locks it briefly
        ::usleep(20'000);
        continue;
      }
      check(error == EWOULDBLOCK, names.command, ": ", path, " cannot be locked: ", reason_of_lock(error),
            names.option.empty() ? "" : "; choose a " + names.option + " on a file system with locks");
      fail(names.command, ": ", names.folder, " is in use: ", who, " is writing to it; wait for its end",
           names.option.empty() ? "" : ", or name another folder with " + names.option + "=...");
    }
    // The file may have been removed, or the folder replaced, between open and flock: the lock is then invalid.
    struct stat own {
    }, there{};
    if (::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &there) == 0 && own.st_ino == there.st_ino &&
        own.st_dev == there.st_dev)
      break;
    ::close(std::exchange(descriptor_, -1));
  }
  const std::string line = own_name() + "\n";
  const bool written = ::ftruncate(descriptor_, 0) == 0 && ::write(descriptor_, line.data(), line.size()) > 0;
  static_cast<void>(written);  // the content is used only in messages of other processes
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  ::unlink((folder_ + "/" + kName).c_str());  // first: a process that has opened it detects the removal
  ::close(descriptor_);
}

std::string FolderLock::holder(const std::string& folder) {
  const int descriptor = ::open((folder + "/" + kName).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  std::string who = held ? first_line_of(descriptor) : "";
  ::close(descriptor);
  return who;
}

}  // namespace heed
