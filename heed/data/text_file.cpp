#include "heed/data/text_file.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <zlib.h>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/memory.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

std::string called(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

template <typename... Parts>
[[noreturn]] void refuse_text(const std::string& path, const Parts&... parts) {
  fail("data/text: ", called(path), ": ", parts...);
}

int open_or_fail(const std::string& path) {
  const int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse_text(path, "cannot be opened: ", std::generic_category().message(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    refuse_text(path, "is a folder, expected a text file");
  }
  return descriptor;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

/// The bytes of a file, one buffer at a time, decompressed if they are gzip. (zlib's gzread treats any data after the
/// gzip data as the end of the file.)
class UnpackedFile {
 public:
  explicit UnpackedFile(const std::string& path) : path_(path), descriptor_(open_or_fail(path)) {}
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;
  ~UnpackedFile() {
    ::close(descriptor_);
    if (packed_) ::inflateEnd(&stream_);
  }

  /// The next bytes, valid until the next call; empty at the end.
  std::string_view next() {
    if (!started_) start();
    const std::string_view bytes = packed_ ? next_unpacked() : next_plain();
    bytes_ += bytes.size();
    if (bytes.empty() && !packed_ && bytes_ > 0 && ends_with(path_, ".gz"))
      refuse_text(path_, "is called .gz but holds no gzip data; fetch it again or drop the ending");
    return bytes;
  }

 private:
  static constexpr unsigned char kMagic0 = 0x1F, kMagic1 = 0x8B;

  unsigned char input(size_t i) const { return static_cast<unsigned char>(input_[i]); }

  /// Appends to the input buffer; false at the end of the file.
  bool fill() {
    ssize_t got = 0;
    do got = ::read(descriptor_, input_.data() + filled_, input_.size() - filled_);
    while (got < 0 && errno == EINTR);
    if (got < 0) refuse_text(path_, "cannot be read: ", std::generic_category().message(errno));
    filled_ += static_cast<size_t>(got);
    return got > 0;
  }

  void start() {
    started_ = true;
    while (filled_ < 2 && fill()) {
    }
    if (filled_ < 2 || input(0) != kMagic0 || input(1) != kMagic1) return;
    constexpr int kGzip = 15 + 16;  // largest window; + 16: gzip header and checksum
    if (::inflateInit2(&stream_, kGzip) != Z_OK) refuse_text(path_, "cannot be opened: no memory");
    packed_ = true;
    give_input();
  }

  void give_input() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(filled_);
    filled_ = 0;
  }

  std::string_view next_plain() {
    if (filled_ == 0) fill();
    const std::string_view bytes(input_.data(), filled_);
    filled_ = 0;
    return bytes;
  }

  std::string_view next_unpacked() {
    for (;;) {
      if (stream_.avail_in == 0 && fill()) give_input();
      if (between_ && !begin_member()) return {};
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      const size_t made = output_.size() - stream_.avail_out;
      if (code == Z_STREAM_END) between_ = true;
      if (code == Z_BUF_ERROR && made == 0 && stream_.avail_in == 0)
        refuse_text(path_, "the gzip data ends after ", bytes_,
                    " bytes of text; it was cut short, fetch or pack it again");
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        refuse_text(path_, "the gzip data is damaged (", stream_.msg ? stream_.msg : "no memory",
                    "); fetch or pack it again");
      if (made > 0) return {output_.data(), made};
    }
  }

  /// Starts the next gzip member of concatenated files. Zeros may pad the last block of a tape. False at the end.
  bool begin_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      padded_ = true;
      ++stream_.next_in;
      if (--stream_.avail_in == 0 && fill()) give_input();
    }
    if (stream_.avail_in == 0) return false;
    if (*stream_.next_in != kMagic0 || padded_)
      refuse_text(path_, "something that is not gzip data follows the gzip data (", bytes_,
                  " bytes of text); fetch or pack it again");
    between_ = false;
    ::inflateReset(&stream_);
    return true;
  }

  std::string path_;
  int descriptor_;
  std::array<char, 1U << 16U> input_{}, output_{};
  size_t filled_ = 0;   // valid bytes in input_
  uint64_t bytes_ = 0;  // returned so far
  bool started_ = false, packed_ = false, between_ = false, padded_ = false;
  z_stream stream_{};
};

std::string wrong_byte(const std::string& path, size_t line, std::string_view text, size_t at) {
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  const bool wide =
      line == 1 && (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF");  // byte-order marks of UTF-16
  return "data/text: " + called(path) + ":" + std::to_string(line) + ": byte " + std::to_string(at + 1) +
         " is not UTF-8 (" + hex.data() + "); " + (wide ? "the file looks like UTF-16, " : "") +
         "save the file as UTF-8";
}

/// Splits the bytes into lines, checks each, and passes it on.
class LineCutter {
 public:
  LineCutter(std::string path, const LineReader& read, std::string expected)
      : path_(std::move(path)), expected_(std::move(expected)), read_(read) {}

  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (open_.size() + part.size() > kMaxLineBytes)
        fail("data/text: ", called(path_), ":", lines_ + 1, ": got a line of more than ", kMaxLineBytes,
             " bytes, expected a sentence; break the line into sentences");
      open_.append(part);
      if (end == std::string_view::npos) return;
      finish_line();
      bytes.remove_prefix(end + 1);
    }
  }

  void finish() {
    if (lines_ == 0 && open_ == kByteOrderMark) open_.clear();
    if (!open_.empty()) finish_line();
    if (lines_ == 0) refuse_text(path_, "is empty, expected ", expected_);
    check(wrong_.empty(), wrong_);
  }

 private:
  void finish_line() {
    std::string_view line = open_;
    if (lines_ == 0 && line.substr(0, kByteOrderMark.size()) == kByteOrderMark)
      line.remove_prefix(kByteOrderMark.size());
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++lines_;
    const size_t wrong = wrong_.empty() ? first_invalid_utf8(line) : std::string_view::npos;
    if (wrong != std::string_view::npos) wrong_ = wrong_byte(path_, lines_, line, wrong);
    if (wrong_.empty()) read_(line, lines_);
    open_.clear();
  }

  std::string path_, expected_, open_, wrong_;  // open_: incomplete last line; wrong_: error to report at the end
  const LineReader& read_;
  size_t lines_ = 0;
};

}  // namespace

void each_line(const std::string& path, const LineReader& read, const std::string& expected) {
  UnpackedFile file(path);
  LineCutter cutter(path, read, expected);
  for (auto bytes = file.next(); !bytes.empty(); bytes = file.next()) cutter.add(bytes);
  cutter.finish();
}

std::vector<std::string> read_lines(const std::string& path) {
  return read_lines_of(path, kSentences);
}

std::vector<std::string> read_lines_of(const std::string& path, const std::string& expected) {
  std::vector<std::string> lines;
  uint64_t memory = 0;
  const uint64_t limit = available_memory() / 2;
  each_line(
      path,
      [&](std::string_view line, size_t) {
        memory += line.size() + sizeof(std::string);
        if (memory > limit)
          refuse_text(path, "got more than ", lines.size(), " lines with ", readable_bytes(static_cast<double>(memory)),
                      " of text, expected at most ", readable_bytes(static_cast<double>(limit)),
                      ", half of the memory that is free; split the file");
        lines.emplace_back(line);
      },
      expected);
  return lines;
}

std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (size_t end = line.find(separator); end != std::string_view::npos; end = line.find(separator)) {
    fields.emplace_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.emplace_back(line);
  return fields;
}

}  // namespace heed
