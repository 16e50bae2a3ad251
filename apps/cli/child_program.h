// This program, started again with other arguments, next to this process.

#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heed::cli {

/// Shares standard error and writes its output to /dev/null, or writes both to a file. It gets SIGTERM when the thread
/// that started it ends, however that happens.
class ChildProgram {
 public:
  /// log: the file for output and errors, replaced; "": none. folder: where it works; "": where this process does.
  /// Throws Error if the program cannot be started.
  ChildProgram(const std::string& program, std::vector<std::string> arguments, const std::string& log = "",
               const std::string& folder = "");
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;
  ~ChildProgram();  // ends it (SIGTERM) if nobody waited for it

  /// Waits for its end. Returns the exit status, 128 + the signal if a signal ended it.
  int wait();
  /// The same if it has ended, else nothing.
  std::optional<int> poll();
  void send(int signal) const;
  pid_t id() const { return id_; }  // -1 after its end

 private:
  pid_t id_ = -1;
};

}  // namespace heed::cli
