// EveryProcess.* holds for any number of processes. Here it runs alone, then in 2 and 3 processes that the tests below
// start; by hand, under a launcher: mpirun -n 3 build/release/bin/train_test --gtest_filter='EveryProcess.*'

#include "heed/train/processes.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/train/processes_group.h"

extern char** environ;

namespace heed {
namespace {

class EveryProcess : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    everyone_ = Processes::join(place_from_environment());
    rank_ = everyone_->rank();
    world_ = everyone_->world();
  }
  static void TearDownTestSuite() { everyone_.reset(); }

 protected:
  static inline std::shared_ptr<Processes> everyone_;
  static inline int rank_ = 0, world_ = 1;
  static double sum_of_ranks() { return world_ * (world_ - 1) / 2.0; }
};

/// Numbers whose sums are exact, different in every process and place.
at::Tensor own(at::IntArrayRef shape, int rank, at::ScalarType type) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (at::arange(count, at::kDouble).remainder(64) + 64 * rank).view(shape).to(type);
}

TEST_F(EveryProcess, SumsTensorsOfAllTypesAndSizesInPlace) {
  std::vector<at::Tensor> mine, sums;
  const auto add = [&](at::IntArrayRef shape, at::ScalarType type) {
    mine.push_back(own(shape, rank_, type));
    sums.push_back(at::zeros(shape, type));
    for (int rank = 0; rank < world_; ++rank) sums.back() += own(shape, rank, type);
  };
  add({3, 4}, at::kFloat);
  add({}, at::kFloat);
  add({0, 7}, at::kFloat);
  add({5}, at::kDouble);
  add({6}, at::kLong);
  add({9 << 20}, at::kFloat);  // larger than a bucket
  add({17, 3}, at::kFloat);
  mine[0] = mine[0].t().contiguous().t();  // not contiguous
  const auto kept = mine;                  // the same tensors
  everyone_->sum(mine);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(at::equal(kept[i], sums[i])) << "tensor " << i;
}

TEST_F(EveryProcess, GivesAllTheSameBits) {
  at::manual_seed(static_cast<uint64_t>(100 + rank_));
  const auto x = at::randn({100003});
  everyone_->sum(std::vector<at::Tensor>{x});
  const auto texts = everyone_->gather(std::string(static_cast<const char*>(x.data_ptr()), x.nbytes()));
  for (const auto& text : texts) EXPECT_TRUE(text == texts[0]);
}

TEST_F(EveryProcess, SumsNumbers) {
  EXPECT_EQ(everyone_->sum(rank_ + 0.5), sum_of_ranks() + 0.5 * world_);
  EXPECT_EQ(everyone_->sum(std::vector<double>{1.0, 1e17 * rank_}),
            (std::vector<double>{1.0 * world_, 1e17 * sum_of_ranks()}));
  EXPECT_TRUE(everyone_->sum(std::vector<double>{}).empty());
}

TEST_F(EveryProcess, HasWhatRankZeroHasAfterABroadcast) {
  const std::vector<at::Tensor> mine{own({4, 5}, rank_, at::kFloat), own({3}, rank_, at::kLong),
                                     own({2, 2}, rank_, at::kFloat).t()};
  everyone_->broadcast(mine);
  EXPECT_TRUE(at::equal(mine[0], own({4, 5}, 0, at::kFloat)));
  EXPECT_TRUE(at::equal(mine[1], own({3}, 0, at::kLong)));
  EXPECT_TRUE(at::equal(mine[2], own({2, 2}, 0, at::kFloat).t()));
}

TEST_F(EveryProcess, HearsWhenAnyoneAsksToStop) {
  EXPECT_FALSE(everyone_->any(false));
  EXPECT_TRUE(everyone_->any(rank_ == world_ - 1));
  EXPECT_TRUE(everyone_->any(true));
}

TEST_F(EveryProcess, GathersTextsByRank) {
  const auto texts = everyone_->gather(std::string(static_cast<size_t>(rank_), 'x') + "追");
  ASSERT_EQ(texts.size(), static_cast<size_t>(world_));
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(i, 'x') + "追");
  for (const auto& text : everyone_->gather("")) EXPECT_EQ(text, "");
}

// loss = sum over all rows of w . x, over the number of rows: d/dw is the mean of x, however rows are shared out.
TEST_F(EveryProcess, HasTheGradientOfTheGlobalBatch) {
  const auto all = own({2 * world_ + 1, 3}, 0, at::kDouble);  // the last process has a row more than the others
  const auto rows = all.narrow(0, 2 * rank_, rank_ == world_ - 1 ? 3 : 2);
  auto w = at::ones({3}, at::kDouble).requires_grad_();
  auto first_only = at::ones({2}, at::kDouble).requires_grad_();
  auto unused = at::ones({2}, at::kDouble).requires_grad_();
  const double count = everyone_->sum(static_cast<double>(rows.size(0)));
  auto loss = at::mv(rows, w).sum() / count;
  if (rank_ == 0) loss = loss + first_only.sum();
  loss.backward();
  everyone_->sum_gradients({w, first_only, unused});
  EXPECT_TRUE(at::allclose(w.grad(), all.mean(0), 1e-12));
  ASSERT_TRUE(first_only.grad().defined());
  EXPECT_TRUE(at::equal(first_only.grad(), at::ones({2}, at::kDouble)));
  EXPECT_FALSE(unused.grad().defined());
}

TEST_F(EveryProcess, RefusesAnUndefinedTensorWhereThereAreSeveral) {
  if (world_ > 1) {
    EXPECT_THROW(everyone_->sum(std::vector<at::Tensor>{at::Tensor()}), Error);
  } else {
    EXPECT_NO_THROW(everyone_->sum(std::vector<at::Tensor>{at::Tensor()}));
  }
}

TEST_F(EveryProcess, WaitsAtABarrier) {
  everyone_->barrier();  // and nobody has left while another was still in a test above
}

/// The last rank dies between two calls; the others say which call failed and who is silent.
class EveryOtherProcess : public EveryProcess {};

TEST_F(EveryOtherProcess, SaysWhoIsSilent) {
  everyone_->barrier();
  if (world_ > 1 && rank_ == world_ - 1) std::_Exit(7);
  std::string text = "nothing was refused";
  try {
    everyone_->sum(1.0);
    text = "";
  } catch (const Error& error) {
    text = error.what();
  }
  if (world_ == 1) {
    EXPECT_EQ(text, "");
  } else {
    EXPECT_NE(text.find("no word from rank " + std::to_string(world_ - 1) + ","), std::string::npos) << text;
    EXPECT_NE(text.find("sum numbers (call 2)"), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(rank_) + " of"), std::string::npos) << text;
    EXPECT_THROW(everyone_->barrier(), Error);
  }
}

/// The last rank stays away for longer than the timeout.
class EveryPatientProcess : public EveryProcess {};

TEST_F(EveryPatientProcess, DoesNotWaitForEver) {
  everyone_->barrier();
  if (world_ > 1 && rank_ == world_ - 1) {
    ::sleep(8);
    std::_Exit(7);
  }
  if (world_ > 1)
    EXPECT_THROW(everyone_->barrier(), Error);
  else
    EXPECT_NO_THROW(everyone_->barrier());
}

int free_port() {
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

/// This program once more, with one of the suites above, a rank, and its words in a file.
class Child {
 public:
  Child(const std::string& filter, int rank, int world, int port, const std::string& more = "")
      : log_(::testing::TempDir() + "heed_processes_" + std::to_string(::getpid()) + "_" + std::to_string(rank)) {
    std::vector<std::string> variables{"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(world),
                                       "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + std::to_string(port), more};
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

  std::string words() const {
    std::ifstream file(log_);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ::unlink(log_.c_str());
    return text;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts)
      if (!text.empty()) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  std::string log_;
  pid_t process_ = 0;
};

/// Exit codes by rank.
std::vector<int> exit_codes(const std::string& filter, int world, const std::string& more = "HEED_TIMEOUT=60") {
  const int port = free_port();
  std::vector<Child> children;
  for (int rank = 0; rank < world; ++rank) children.emplace_back(filter, rank, world, port, more);
  std::vector<int> codes;
  for (const auto& child : children) {
    codes.push_back(child.exit_code());
    const std::string words = child.words();
    EXPECT_TRUE(codes.back() == 0 || codes.back() == 7) << words;
  }
  return codes;
}

#define SKIP_WITHOUT_GLOO \
  if (!no_group(at::kCPU).empty()) GTEST_SKIP() << no_group(at::kCPU)

TEST(Processes, AgreeWhenThereAreTwo) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryProcess.*", 2), (std::vector<int>{0, 0}));
}

TEST(Processes, AgreeWhenThereAreThree) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryProcess.*", 3), (std::vector<int>{0, 0, 0}));
}

TEST(Processes, NoticeThatOneDied) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryOtherProcess.*", 3), (std::vector<int>{0, 0, 7}));
}

TEST(Processes, NoticeThatOneHangs) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryPatientProcess.*", 2, "HEED_TIMEOUT=6"), (std::vector<int>{0, 7}));
}

TEST(Processes, SayWhereTheyWaitedForOthersThatNeverCame) {
  SKIP_WITHOUT_GLOO;
  ProcessPlace place;
  place.world = 2;
  place.master = "127.0.0.1";
  place.port = free_port();
  for (place.rank = 0; place.rank < 2; ++place.rank) try {
      Processes::join(place, at::kCPU, std::chrono::milliseconds(1500));
      ADD_FAILURE() << "joined nobody";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("127.0.0.1:" + std::to_string(place.port)), std::string::npos) << text;
      EXPECT_NE(text.find("rank " + std::to_string(place.rank) + " of 2"), std::string::npos) << text;
    }
}

TEST(Processes, AreRefusedWithTheCureWhereTheBuildHasNoGroup) {
  for (const auto device : {at::kCPU, at::kCUDA, at::kMeta}) {
    const std::string reason = no_group(device);
    if (reason.empty()) continue;
    ProcessPlace place;
    place.world = 2;
    place.launcher = "mpirun";
    try {
      Processes::join(place, device);
      ADD_FAILURE() << "joined nobody";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "train/processes: mpirun started 2 processes, but " + reason);
    }
  }
}

// A GPU takes one process of a group, so here there is one, and its sums are what it had.
TEST(Processes, TalkThroughNcclOnAGpu) {
  if (!no_group(at::kCUDA).empty()) GTEST_SKIP() << no_group(at::kCUDA);
  if (!at::hasCUDA()) GTEST_SKIP() << "there is no GPU";
  ProcessPlace place;
  place.master = "127.0.0.1";
  place.port = free_port();
  const at::Device gpu(at::kCUDA, 0);
  const auto group = open_group(place, gpu, std::chrono::seconds(60));
  const auto x = own({1000}, 3, at::kFloat).to(gpu), bytes = own({10}, 1, at::kByte).to(gpu);
  group->sum(x);
  group->sum(bytes);
  group->broadcast(x);
  EXPECT_TRUE(at::equal(x.cpu(), own({1000}, 3, at::kFloat)));
  EXPECT_TRUE(at::equal(bytes.cpu(), own({10}, 1, at::kByte)));
}

TEST(Processes, RefuseATimeoutThatIsNoNumber) {
  ::setenv("HEED_TIMEOUT", "soon", 1);
  EXPECT_THROW(Processes::join({}), Error);
  ::unsetenv("HEED_TIMEOUT");
}

}  // namespace
}  // namespace heed
