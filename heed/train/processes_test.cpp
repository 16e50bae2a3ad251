// EveryProcess.* holds for any number of processes. It runs in a single process, then in 2 and 3 processes started by
// the tests below. To run it under a launcher: mpirun -n 3 build/release/bin/train_test --gtest_filter='EveryProcess.*'

#include "heed/train/processes.h"

#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/train/processes_group.h"
#include "heed/train/testing_processes.h"

namespace heed {
namespace {

using testing::exit_codes;
using testing::free_port;

class EveryProcess : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    everyone_ = Processes::join(rank_from_environment());
    rank_ = everyone_->rank();
    world_ = everyone_->world();
  }
  static void TearDownTestSuite() { everyone_.reset(); }

 protected:
  static inline std::shared_ptr<Processes> everyone_;
  static inline int rank_ = 0, world_ = 1;
  static double sum_of_ranks() { return world_ * (world_ - 1) / 2.0; }
};

/// Numbers with exact sums, different in every process and at every position.
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

TEST_F(EveryProcess, KnowsWhetherAnyProcessSaysTrue) {
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

// loss = sum over all rows of w . x / number of rows: d/dw is the mean of x for any split of the rows.
TEST_F(EveryProcess, HasTheGradientOfTheGlobalBatch) {
  const auto all = own({2 * world_ + 1, 3}, 0, at::kDouble);  // the last process has one more row than the others
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
  everyone_->barrier();  // no process has exited while another still ran a test above
}

/// The last rank dies between two calls; the others report which call failed and which rank does not respond.
class EveryOtherProcess : public EveryProcess {};

TEST_F(EveryOtherProcess, NamesTheRankThatDoesNotRespond) {
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

TEST_F(EveryProcess, ReturnsTheNumbersOfRankZero) {
  int works = 0;
  for (int round = 1; round <= 3; ++round) {
    const auto numbers = everyone_->from_first("think", [&] {
      ++works;
      ::usleep(100000);
      return std::vector<double>{1.5, -2.0 * round, 1e300};
    });
    EXPECT_EQ(numbers, (std::vector<double>{1.5, -2.0 * round, 1e300}));
  }
  everyone_->wait_for_first("rest", [&] { ++works; });
  EXPECT_EQ(works, rank_ == 0 ? 4 : 0);
  EXPECT_EQ(everyone_->sum(1.0), world_);
}

/// An exception of rank 0 ends all processes with its message.
class EveryDisappointedProcess : public EveryProcess {};

TEST_F(EveryDisappointedProcess, EndsWithTheMessageOfTheFirst) {
  std::string text;
  const auto began = std::chrono::steady_clock::now();
  try {
    everyone_->wait_for_first("write the checkpoint", [] { fail("the disk is full"); });
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_NE(text.find("the disk is full"), std::string::npos) << text;
  if (rank_ == 0) {
    EXPECT_EQ(text, "the disk is full");
  } else {
    EXPECT_NE(text.find("rank 0 could not write the checkpoint"), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(rank_) + " of"), std::string::npos) << text;
  }
  if (world_ > 1) {
    EXPECT_THROW(everyone_->wait_for_first("go on", [] {}), Error);
  }
}

/// Rank 0 dies while the others wait for it.
class EveryOrphanedProcess : public EveryProcess {};

TEST_F(EveryOrphanedProcess, NoticesThatTheFirstIsGone) {
  everyone_->barrier();
  std::string text;
  try {
    everyone_->wait_for_first("validate", [] {
      ::usleep(300000);
      if (world_ > 1) std::_Exit(7);
    });
  } catch (const Error& error) {
    text = error.what();
  }
  if (world_ == 1)
    EXPECT_EQ(text, "");
  else
    EXPECT_NE(text.find("waited for rank 0 to validate, but rank 0 is gone"), std::string::npos) << text;
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
  EXPECT_EQ(exit_codes("EveryPatientProcess.*", 2, {"HEED_TIMEOUT=6"}), (std::vector<int>{0, 7}));
}

TEST(Processes, EndWithTheMessageOfTheFirst) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryDisappointedProcess.*", 3), (std::vector<int>{0, 0, 0}));
}

TEST(Processes, NoticeThatTheFirstDiedWhileTheyWaited) {
  SKIP_WITHOUT_GLOO;
  EXPECT_EQ(exit_codes("EveryOrphanedProcess.*", 3), (std::vector<int>{7, 0, 0}));
}

TEST(Processes, ReportWhereTheyWaitedForMissingProcesses) {
  SKIP_WITHOUT_GLOO;
  ProcessRank process;
  process.world = 2;
  process.master = "127.0.0.1";
  process.port = free_port();
  for (process.rank = 0; process.rank < 2; ++process.rank) try {
      Processes::join(process, at::kCPU, std::chrono::milliseconds(1500));
      ADD_FAILURE() << "joined nobody";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("127.0.0.1:" + std::to_string(process.port)), std::string::npos) << text;
      EXPECT_NE(text.find("rank " + std::to_string(process.rank) + " of 2"), std::string::npos) << text;
    }
}

TEST(Processes, AreRefusedWithTheCureWhereTheBuildHasNoGroup) {
  for (const auto device : {at::kCPU, at::kCUDA, at::kMeta}) {
    const std::string reason = no_group(device);
    if (reason.empty()) continue;
    ProcessRank process;
    process.world = 2;
    process.launcher = "mpirun";
    try {
      Processes::join(process, device);
      ADD_FAILURE() << "joined nobody";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "train/processes: mpirun started 2 processes, but " + reason);
    }
  }
}

// NCCL allows one process per GPU, so the group has one process, and sums return their input.
TEST(Processes, UseNcclOnAGpu) {
  if (!no_group(at::kCUDA).empty()) GTEST_SKIP() << no_group(at::kCUDA);
  if (!at::hasCUDA()) GTEST_SKIP() << "there is no GPU";
  ProcessRank process;
  process.master = "127.0.0.1";
  process.port = free_port();
  const at::Device gpu(at::kCUDA, 0);
  const auto group = open_group(process, gpu, std::chrono::seconds(60));
  const auto x = own({1000}, 3, at::kFloat).to(gpu), bytes = own({10}, 1, at::kByte).to(gpu);
  group->sum(x);
  group->sum(bytes);
  group->broadcast(x);
  EXPECT_TRUE(at::equal(x.cpu(), own({1000}, 3, at::kFloat)));
  EXPECT_TRUE(at::equal(bytes.cpu(), own({10}, 1, at::kByte)));
}

TEST(Processes, RefuseATimeoutThatIsNotANumber) {
  ::setenv("HEED_TIMEOUT", "soon", 1);
  EXPECT_THROW(Processes::join({}), Error);
  ::unsetenv("HEED_TIMEOUT");
}

}  // namespace
}  // namespace heed
