#include "heed/data/file.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/path.h"

namespace heed {
namespace {

template <typename... Parts>
[[noreturn]] void refuse(const std::string& path, const Parts&... parts) {
  fail("data/file: ", path.empty() ? "''" : path, ": ", parts...);
}

template <typename... Parts>
[[noreturn]] void refuse_errno(int error, const std::string& path, const Parts&... parts) {
  refuse(path, parts..., ": ", std::generic_category().message(error));
}

[[noreturn]] void refuse_write(int error, const std::string& path, const std::string& what) {
  throw WriteError("data/file: " + path + ": " + what + ": " + std::generic_category().message(error));
}

/// "runs/a" of "runs/a/weights", "." of "weights".
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// A rename is durable only after an fsync of the folder. Some file systems do not support fsync on folders.
void sync_folder(const std::string& path, const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the folder is writable but not readable
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL) refuse_write(error, path, "was written, but its folder cannot be");
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) refuse_errno(errno, path, "cannot be opened");
  struct stat status {};
  const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  size_ = static_cast<uint64_t>(status.st_size);
  if (regular) return;
  ::close(descriptor_);
  refuse(path, "is a folder or a device, expected a file");
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read(void* to, uint64_t bytes, uint64_t from) const {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, next, bytes, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_errno(errno, path_, "cannot be read");
    if (got == 0) refuse(path_, "became shorter while it was read, expected ", size_, " bytes");
    next += got;
    from += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(without_links(path)) {
  struct stat status {};
  const bool free = ::stat(target_.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  if (path.empty() || !free) refuse(path, "is a folder or a device, expected the name of a file");

  static std::atomic<unsigned> count{0};
  do {
    beside_ = target_ + "." + std::to_string(::getpid()) + "." + std::to_string(count++) + ".part";
    descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) refuse_write(errno, path, "cannot be written");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!complete_) ::unlink(beside_.c_str());
}

void OutputFile::write(const void* from, uint64_t bytes) {
  const char* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor_, next, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse_write(errno, path_, "cannot be written");
    next += put;
    bytes -= static_cast<uint64_t>(put);
  }
}

void OutputFile::finish() {
  if (::fsync(descriptor_) != 0) refuse_write(errno, path_, "cannot be written");
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse_write(errno, path_, "cannot be written");
  if (::rename(beside_.c_str(), target_.c_str()) != 0) refuse_write(errno, path_, "cannot be put in place");
  complete_ = true;
  sync_folder(path_, folder_of(target_));
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size(), 0);
  return bytes;
}

void write_atomically(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes.data(), bytes.size());
  file.finish();
}

void make_folders(const std::string& path) {
  if (path.empty()) refuse(path, "got an empty path, expected the name of a folder");
  for (size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    const int error = ::mkdir(folder.c_str(), 0777) == 0 ? 0 : errno;
    if (error == 0 || is_folder(folder)) continue;
    if (exists(folder)) refuse(folder, "is a file, expected a folder; remove it or choose another name");
    refuse_errno(error, folder, "cannot be made");
  }
}

std::string below_folder(const std::string& folder, const std::string& path) {
  return folder.empty() || path.empty() || path[0] == '/' || path == "-" ? path : folder + "/" + path;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace heed
