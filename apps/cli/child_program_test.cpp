#include "apps/cli/child_program.h"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"

namespace heed::cli {
namespace {

int status_of(const std::string& script) {
  return ChildProgram("/bin/sh", {"-c", script}).wait();
}

TEST(ChildProgram, ReportsItsExitStatusAndItsSignal) {
  EXPECT_EQ(status_of("exit 0"), 0);
  EXPECT_EQ(status_of("exit 3"), 3);
  EXPECT_EQ(status_of("kill -KILL $$"), 128 + SIGKILL);
}

TEST(ChildProgram, SaysWhyItCannotBeStarted) {
  try {
    const ChildProgram missing("/no/such/program", {});
    FAIL() << "a missing program was started";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "could not start /no/such/program: No such file or directory");
  }
}

TEST(ChildProgram, GetsItsArgumentsAsTheyAre) {
  const testing::Folder folder;
  const std::string file = folder.path("it's \"here\"");
  EXPECT_EQ(ChildProgram("/bin/sh", {"-c", "printf %s \"$1\" > \"$0\"", file, "a b  $HOME"}).wait(), 0);
  EXPECT_EQ(read_file(file), "a b  $HOME");
}

TEST(ChildProgram, WritesOutputAndErrorsToItsLog) {
  const testing::Folder folder;
  const std::string log = folder.path("log");
  EXPECT_EQ(ChildProgram("/bin/sh", {"-c", "echo said; echo wrong >&2"}, log).wait(), 0);
  EXPECT_EQ(read_file(log), "said\nwrong\n");
}

TEST(ChildProgram, CanBePolledAndSignaled) {
  ChildProgram child("/bin/sleep", {"60"});
  EXPECT_GT(child.id(), 0);
  EXPECT_FALSE(child.poll());
  child.send(SIGTERM);
  EXPECT_EQ(child.wait(), 128 + SIGTERM);
}

TEST(ChildProgram, EndsWhenNobodyWaitsForIt) {
  const auto start = std::chrono::steady_clock::now();
  { const ChildProgram forgotten("/bin/sleep", {"60"}); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace heed::cli
