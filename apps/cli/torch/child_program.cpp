#include "apps/cli/torch/child_program.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "heed/base/check.h"

namespace heed::cli {

ChildProgram::ChildProgram(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int failure[2];  // closed by exec; otherwise it brings errno
  check(::pipe2(failure, O_CLOEXEC) == 0, "could not start ", program, ": ", std::generic_category().message(errno));
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ != 0) {
    int error = id_ < 0 ? errno : 0;
    ::close(failure[1]);
    if (id_ > 0 && ::read(failure[0], &error, sizeof error) == sizeof error) wait();
    ::close(failure[0]);
    check(error == 0, "could not start ", program, ": ", std::generic_category().message(error));
    return;
  }
  // Between fork and exec only functions that a signal handler may call too.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it ended before prctl
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, STDOUT_FILENO);
  ::execv(program.c_str(), argv.data());
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
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace heed::cli
