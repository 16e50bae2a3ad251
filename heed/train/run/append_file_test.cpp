// An append-only file that is truncated to the size in a checkpoint.

#include "heed/train/run/append_file.h"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

TEST(AppendFile, GrowsAcrossOpenings) {
  const Folder folder;
  {
    AppendFile file(folder.path("a"));
    EXPECT_TRUE(file.empty());
    file.append("one\n");
  }
  AppendFile file(folder.path("a"));
  EXPECT_FALSE(file.empty());
  file.append("two\n");
  EXPECT_EQ(folder.content("a"), "one\ntwo\n");
  EXPECT_EQ(file.synced_size(), 8);
}

TEST(AppendFile, ContinuesWhereItWasTruncated) {
  const Folder folder;
  AppendFile file(folder.path("a"));
  file.append("one\n");
  const int64_t remembered = file.synced_size();
  file.append("two\nhal");
  file.truncate_to(remembered);
  file.append("2\n");
  EXPECT_EQ(folder.content("a"), "one\n2\n");
  EXPECT_EQ(file.synced_size(), 6);
}

TEST(AppendFile, DoesNotGrowByTruncation) {
  const Folder folder;
  AppendFile file(folder.path("a"));
  file.append("one\n");
  EXPECT_EQ(refusal([&] { file.truncate_to(5); }),
            "train/run: " + folder.path("a") +
                " has 4 bytes, expected at least the 5 that the checkpoint remembers; was it cut or replaced?");
  EXPECT_EQ(folder.content("a"), "one\n");
}

TEST(AppendFile, KeepsNothingOfAWriteThatDidNotFit) {
  const Folder folder;
  AppendFile file(folder.path("a"));
  file.append("one\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{6, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = refusal([&] { file.append("two\n"); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(said, "train/run: " + folder.path("a") + " cannot be written: File too large");
  EXPECT_EQ(folder.content("a"), "one\n");
  file.append("2\n");
  EXPECT_EQ(folder.content("a"), "one\n2\n");
}

TEST(AppendFile, IsRefusedWhereItCannotBeCreated) {
  const Folder folder;
  EXPECT_EQ(refusal([&] { AppendFile file(folder.path("no/a")); }),
            "train/run: " + folder.path("no/a") + " cannot be opened: No such file or directory");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const int reader = ::open(folder.path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(refusal([&] { AppendFile file(folder.path("pipe")); }),
            "train/run: " + folder.path("pipe") + " is not a plain file, expected one to write to");
  ::close(reader);
}

}  // namespace
}  // namespace heed::testing
