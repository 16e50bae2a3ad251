#include "apps/cli/line_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed::cli {

bool LineReader::wait_for_more(bool block) {
  if (ended_) return false;
  pollfd input{file_, POLLIN, 0};
  if (!block && ::poll(&input, 1, 0) <= 0) return false;
  std::array<char, 1 << 16> buffer{};
  ssize_t count = 0;
  do count = ::read(file_, buffer.data(), buffer.size());
  while (count < 0 && errno == EINTR);
  check(count >= 0, "standard input: ", std::strerror(errno));
  if (count == 0) ended_ = true;
  if (taken_ > 0) {  // less than a line is left, so moving it costs no more than reading it did
    read_.erase(0, taken_);
    searched_ -= taken_;
    taken_ = 0;
  }
  read_.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

bool LineReader::take_line(std::string& line) {
  size_t end = read_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = read_.size();
    const bool too_long = read_.size() - taken_ > kMaxLineBytes;  // even if more follows
    if (!too_long && (!ended_ || taken_ == read_.size())) return false;
    end = read_.size();
  }
  line.assign(read_, taken_, end - taken_);
  taken_ = searched_ = std::min(end + 1, read_.size());
  if (lines_ == 0 && line.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) line.erase(0, kByteOrderMark.size());
  if (!line.empty() && line.back() == '\r') line.pop_back();
  ++lines_;
  return true;
}

std::string LineReader::problem(const std::string& line) const {
  const std::string where = "standard input:" + std::to_string(lines_) + ": ";
  if (line.size() > kMaxLineBytes)
    return where + "got a line of more than " + std::to_string(kMaxLineBytes) +
           " bytes, expected a sentence; break the line into sentences";
  const size_t byte = first_invalid_utf8(line);
  if (byte == std::string::npos) return "";
  return where + "byte " + std::to_string(byte + 1) + " is not UTF-8; convert the text first, for example with iconv";
}

std::vector<std::string> LineReader::some(int64_t max) {
  check(wrong_.empty(), wrong_);
  std::vector<std::string> lines;
  std::string line;
  while (static_cast<int64_t>(lines.size()) < max) {
    if (take_line(line)) {
      wrong_ = problem(line);
      if (!wrong_.empty()) {  // the lines before it are valid
        check(!lines.empty(), wrong_);
        break;
      }
      lines.push_back(line);
    } else if (!wait_for_more(/*block=*/lines.empty()) && (!ended_ || taken_ == read_.size()))
      break;
  }
  given_ += static_cast<int64_t>(lines.size());
  return lines;
}

}  // namespace heed::cli
