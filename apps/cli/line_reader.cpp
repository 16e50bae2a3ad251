#include "apps/cli/line_reader.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "heed/base/check.h"
#include "heed/base/utf8.h"

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
  read_.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

bool LineReader::take_line(std::string& line) {
  size_t end = read_.find('\n');
  if (end == std::string::npos) {
    if (!ended_ || read_.empty()) return false;
    end = read_.size();
  }
  line = read_.substr(0, end);
  read_.erase(0, end + 1);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  ++lines_;
  return true;
}

std::vector<std::string> LineReader::some(int64_t most) {
  check(wrong_.empty(), wrong_);
  std::vector<std::string> lines;
  std::string line;
  while (static_cast<int64_t>(lines.size()) < most) {
    if (take_line(line)) {
      const size_t byte = first_invalid_utf8(line);
      if (byte != std::string::npos) {  // the lines before it are still fine
        wrong_ = "standard input:" + std::to_string(lines_) + ": byte " + std::to_string(byte + 1) +
                 " is not UTF-8; convert the text first, for example with iconv";
        check(!lines.empty(), wrong_);
        break;
      }
      lines.push_back(line);
    } else if (!wait_for_more(/*block=*/lines.empty()) && (!ended_ || read_.empty()))
      break;
  }
  return lines;
}

}  // namespace heed::cli
