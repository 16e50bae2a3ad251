#include "heed/data/text_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <zlib.h>

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // U+FEFF, the byte-order mark

std::string called(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

template <typename... Words>
[[noreturn]] void refuse(const std::string& path, const Words&... words) {
  fail("data/text: ", called(path), ": ", words...);
}

int open_or_fail(const std::string& path) {
  const int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(path, "cannot be opened: ", std::generic_category().message(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    refuse(path, "is a folder, expected a text file");
  }
  return descriptor;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

/// The bytes of the file, unpacked where they are gzip.
std::string unpacked(const std::string& path) {
  const int descriptor = open_or_fail(path);
  gzFile const file = ::gzdopen(descriptor, "rb");
  if (file == nullptr) {
    ::close(descriptor);
    refuse(path, "cannot be opened: no memory");
  }
  std::string bytes;
  std::array<char, 1U << 16U> part{};
  int got = 0;
  while ((got = ::gzread(file, part.data(), part.size())) > 0) bytes.append(part.data(), static_cast<size_t>(got));
  int code = Z_OK;
  const std::string words = ::gzerror(file, &code);
  const int error = errno;
  const bool plain = ::gzdirect(file) != 0;
  const int closed = ::gzclose_r(file);  // says whether the file ended inside its gzip data
  if (code == Z_ERRNO) refuse(path, "cannot be read: ", std::generic_category().message(error));
  if (code == Z_BUF_ERROR || closed == Z_BUF_ERROR)
    refuse(path, "the gzip data ends after ", bytes.size(), " bytes of text; it was cut short, fetch or pack it again");
  if (got < 0 || code != Z_OK) refuse(path, "the gzip data is damaged (", words, "); fetch or pack it again");
  if (plain && !bytes.empty() && ends_with(path, ".gz"))
    refuse(path, "is called .gz but holds no gzip data; fetch it again or drop the ending");
  return bytes;
}

[[noreturn]] void refuse_byte(const std::string& path, size_t line, std::string_view text, size_t at) {
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  const bool wide =
      line == 1 && (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF");  // its byte-order marks
  fail("data/text: ", called(path), ":", line, ": byte ", at + 1, " is not UTF-8 (", hex.data(), "); ",
       wide ? "the file looks like UTF-16, " : "", "save the file as UTF-8");
}

}  // namespace

std::vector<std::string> read_lines(const std::string& path) {
  const std::string bytes = unpacked(path);
  std::string_view rest = bytes;
  if (rest.substr(0, kMark.size()) == kMark) rest.remove_prefix(kMark.size());
  if (rest.empty()) refuse(path, "is empty, expected one sentence a line");
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const size_t wrong = first_invalid_utf8(line);
    if (wrong != std::string_view::npos) refuse_byte(path, lines.size() + 1, line, wrong);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace heed
