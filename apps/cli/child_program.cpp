#include "apps/cli/child_program.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "heed/base/check.h"

namespace heed::cli {

namespace {

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int open_log(const std::string& path) {
  if (path.empty()) return ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  check(file >= 0, path, " cannot be written: ", std::generic_category().message(errno));
  return file;
}

}  // namespace

ChildProgram::ChildProgram(const std::string& program, std::vector<std::string> arguments, const std::string& log,
                           const std::string& folder) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int output = open_log(log);
  int failure[2];  // closed by exec; otherwise it brings errno
  check(::pipe2(failure, O_CLOEXEC) == 0, "could not start ", program, ": ", std::generic_category().message(errno));
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ != 0) {
    int error = id_ < 0 ? errno : 0;
    ::close(failure[1]);
    if (output >= 0) ::close(output);
    if (id_ > 0 && ::read(failure[0], &error, sizeof error) == sizeof error) wait();
    ::close(failure[0]);
    check(error == 0, "could not start ", program, ": ", std::generic_category().message(error));
    return;
  }
  // Between fork and exec only functions that a signal handler may call too.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it ended before prctl
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  if (!log.empty()) ::dup2(output, STDERR_FILENO);
  if (folder.empty() || ::chdir(folder.c_str()) == 0) ::execv(program.c_str(), argv.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure[1], &error, sizeof error);
  ::_exit(127);
}

ChildProgram::~ChildProgram() {
  if (id_ < 0) return;
  ::kill(id_, SIGTERM);
  wait();
}

int ChildProgram::wait() {
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return exit_status(status);
}

std::optional<int> ChildProgram::poll() {
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) != id_) return std::nullopt;
  id_ = -1;
  return exit_status(status);
}

void ChildProgram::send(int signal) const {
  if (id_ > 0) ::kill(id_, signal);
}

}  // namespace heed::cli
