// Starts this test program again as several processes of one group, one per rank.

#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

extern char** environ;

namespace heed::testing {

/// A free port of this machine.
inline int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

/// This test program as a child process, with a test filter, a rank, and its output in a file.
class Child {
 public:
  Child(const std::string& filter, int rank, int world, int port, const std::vector<std::string>& more = {})
      : log_(::testing::TempDir() + "heed_processes_" + std::to_string(::getpid()) + "_" + std::to_string(rank)) {
    std::vector<std::string> variables{"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(world),
                                       "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + std::to_string(port)};
    variables.insert(variables.end(), more.begin(), more.end());
    for (char** variable = environ; *variable != nullptr; ++variable)
      if (std::string(*variable).rfind("GTEST_", 0) != 0) variables.emplace_back(*variable);
    std::vector<std::string> words{"train_test", "--gtest_filter=" + filter};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    EXPECT_EQ(::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, pointers(words).data(),
                            pointers(variables).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
  }

  int exit_code() const {
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string to_string() const {
    std::ifstream file(log_);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ::unlink(log_.c_str());
    return text;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  std::string log_;
  pid_t process_ = 0;
};

/// Exit codes by rank. A second port, for a group with another timeout, is in HEED_TEST_PORT. The output of a process
/// is shown if its exit code is neither 0 nor 7.
inline std::vector<int> exit_codes(const std::string& filter, int world,
                                   std::vector<std::string> more = {"HEED_TIMEOUT=60"}) {
  const int port = free_port();
  more.push_back("HEED_TEST_PORT=" + std::to_string(free_port()));
  std::vector<Child> children;
  for (int rank = 0; rank < world; ++rank) children.emplace_back(filter, rank, world, port, more);
  std::vector<int> codes;
  for (const auto& child : children) {
    codes.push_back(child.exit_code());
    const std::string words = child.to_string();
    EXPECT_TRUE(codes.back() == 0 || codes.back() == 7) << words;
  }
  return codes;
}

}  // namespace heed::testing
