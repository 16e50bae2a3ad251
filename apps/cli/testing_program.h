// Runs the program in tests, as a user does.

#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace heed::cli {

inline constexpr int kFailed = 1, kMisused = 2, kInterrupted = 128 + SIGINT;
inline constexpr double kTimeout = 120;  // seconds; a busy machine is slow, a hang is longer

struct Outcome {
  int code = 0;  // exit status, 128 + signal, or -1 after a timeout
  std::string out, err;
};

struct Start {
  std::string input{};   // standard input
  std::string output{};  // a file, such as /dev/full; empty: captured in Outcome::out
  std::vector<std::pair<std::string, std::string>> environment{};
  int stdout_pipe = -1;  // a descriptor to write standard output to
  bool ignore_sigpipe = false;
  std::string program = HEED_PROGRAM;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

/// A running program; its standard streams are files in the folder.
class Process {
 public:
  Process(const std::string& folder, const std::vector<std::string>& arguments, const Start& start = {})
      : folder_(folder) {
    std::ofstream(folder_ + "/stdin", std::ios::binary) << start.input;
    std::vector<char*> words;
    std::vector<std::string> all{start.program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    for (auto& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    process_ = ::fork();
    if (process_ > 0) return;
    if (::chdir(folder_.c_str()) != 0) ::_exit(126);
    redirect("stdin", O_RDONLY, STDIN_FILENO);
    if (start.stdout_pipe >= 0) {
      ::dup2(start.stdout_pipe, STDOUT_FILENO);
    } else {
      redirect(start.output.empty() ? "stdout" : start.output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    }
    redirect("stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    std::signal(SIGINT, SIG_DFL);  // a shell's background jobs ignore it
    std::signal(SIGPIPE, start.ignore_sigpipe ? SIG_IGN : SIG_DFL);
    for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "HEED_MEMORY"})
      ::unsetenv(name);
    for (const auto& [name, value] : start.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }

  pid_t id() const { return process_; }
  void send(int signal) const { ::kill(process_, signal); }

  Outcome wait() {
    int status = 0;
    const auto began = std::chrono::steady_clock::now();
    while (::waitpid(process_, &status, WNOHANG) == 0) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > kTimeout)
        return {-1, contents(folder_ + "/stdout"), contents(folder_ + "/stderr")};
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    process_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(folder_ + "/stdout"),
            contents(folder_ + "/stderr")};
  }

  /// Waits until the file in the folder is not empty.
  ::testing::AssertionResult wait_for(const std::string& name) const {
    const auto began = std::chrono::steady_clock::now();
    while (contents(folder_ + "/" + name).empty()) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > kTimeout)
        return ::testing::AssertionFailure() << name << " stays empty; " << contents(folder_ + "/stderr");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return ::testing::AssertionSuccess();
  }

 private:
  static void redirect(const std::string& path, int how, int to) {
    const int file = ::open(path.c_str(), how, 0666);
    if (file < 0) ::_exit(125);
    ::dup2(file, to);
    ::close(file);
  }

  std::string folder_;
  pid_t process_ = -1;
};

}  // namespace heed::cli
