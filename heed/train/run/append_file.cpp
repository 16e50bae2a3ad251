#include "heed/train/run/append_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "heed/base/check.h"
#include "heed/data/file.h"

namespace heed {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what, int error) {
  throw WriteError("train/run: " + path + " cannot be " + what + ": " + std::generic_category().message(error));
}

}  // namespace

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(path_, "opened", errno);
  struct stat facts {};
  const bool fine = ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!fine) {
    ::close(std::exchange(file_, -1));
    fail("train/run: ", path_, " is not a plain file, expected one to write to");
  }
  size_ = facts.st_size;
}

AppendFile::~AppendFile() {
  if (file_ >= 0) ::close(file_);
}

void AppendFile::append(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      if (::ftruncate(file_, size_) != 0) refuse(path_, "cut back after a failed write", errno);
      refuse(path_, "written", error);
    }
    rest.remove_prefix(static_cast<size_t>(count));
  }
  size_ += static_cast<int64_t>(bytes.size());
}

int64_t AppendFile::synced_size() const {
  if (::fdatasync(file_) != 0) refuse(path_, "brought to the disk", errno);
  return size_;
}

void AppendFile::truncate_to(int64_t bytes) {
  check(0 <= bytes && bytes <= size_, "train/run: ", path_, " has ", size_, " bytes, expected at least the ", bytes,
        " that the checkpoint remembers; was it cut or replaced?");
  if (::ftruncate(file_, bytes) != 0) refuse(path_, "cut", errno);
  size_ = bytes;
}

}  // namespace heed
