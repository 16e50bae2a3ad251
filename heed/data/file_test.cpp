#include "heed/data/file.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class File : public FolderTest {};

TEST_F(File, ComesBackAsItWasWritten) {
  const std::string bytes("\0\xff line\r\n", 9);
  write_atomically(path("a"), bytes);
  EXPECT_EQ(read_file(path("a")), bytes);
  write_atomically(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
  EXPECT_EQ(names_in(folder_), (std::vector<std::string>{"a"}));
}

TEST_F(File, NamesThePathAndTheReasonOfAnError) {
  const auto reading = [&](const std::string& from) { return error_of([&] { read_file(from); }); };
  const auto writing = [&](const std::string& to) { return error_of([&] { write_atomically(to, "x"); }); };
  EXPECT_EQ(reading(path("none")), "data/file: " + path("none") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(reading(folder_), "data/file: " + folder_ + ": is a folder or a device, expected a file");
  EXPECT_TRUE(says(writing(path("none/a")), {path("none/a"), "cannot be written: No such file or directory"}));
  EXPECT_TRUE(says(writing(folder_), {"is a folder or a device, expected the name of a file"}));
  EXPECT_TRUE(says(writing(""), {"data/file: '': is a folder or a device"}));
}

/// Writes more than the file size limit of this process.
void write_beyond_the_limit(const std::string& path, void (*handler)(int)) {
  const rlimit no_core{0, 0}, max{4096, 4096};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_FSIZE, &max);
  std::signal(SIGXFSZ, handler);
  try {
    write_atomically(path, std::string(1 << 16, 'n'));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(3);
  }
}

TEST_F(File, StaysAsItWasWhenTheNewOneDoesNotFit) {
  write_atomically(path("a"), "old");
  EXPECT_EXIT(write_beyond_the_limit(path("a"), SIG_IGN), ::testing::ExitedWithCode(3),
              "cannot be written: File too large");
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(names_in(folder_).size(), 1U);
}

TEST_F(File, StaysAsItWasWhenTheWriterIsKilled) {
  write_atomically(path("a"), "old");
  EXPECT_EXIT(write_beyond_the_limit(path("a"), SIG_DFL), ::testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_EQ(read_file(path("a")), "old");
}

TEST_F(File, IsWrittenThroughALink) {
  write_atomically(path("real"), "old");
  ASSERT_EQ(::symlink("real", path("link").c_str()), 0);
  write_atomically(path("link"), "new");
  struct stat link {};
  ASSERT_EQ(::lstat(path("link").c_str(), &link), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
  EXPECT_EQ(read_file(path("real")), "new");
}

TEST_F(File, HasItsFoldersMade) {
  make_folders(path("a/b//c/"));
  EXPECT_TRUE(is_folder(path("a/b/c")));
  make_folders(path("a/b"));  // exists already
  make_folders("/");
  write("a/file", "");
  EXPECT_TRUE(exists(path("a/file")));
  EXPECT_FALSE(is_folder(path("a/file")));
  EXPECT_FALSE(exists(path("a/none")));
  EXPECT_EQ(error_of([&] { make_folders(path("a/file/x")); }),
            "data/file: " + path("a/file") + ": is a file, expected a folder; remove it or choose another name");
  EXPECT_TRUE(says(error_of([&] { make_folders(""); }), {"expected the name of a folder"}));
  EXPECT_TRUE(says(error_of([&] { make_folders("/proc/none/x"); }), {"/proc/none", "cannot be made"}));
}

// The reason is the error of mkdir, not that of the later stat.
TEST_F(File, IsBelowItsFolderUnlessItsPathIsAbsolute) {
  EXPECT_EQ(below_folder("a", "b/c"), "a/b/c");
  EXPECT_EQ(below_folder("", "b"), "b");
  EXPECT_EQ(below_folder("a", "/b"), "/b");
  EXPECT_EQ(below_folder("a", "-"), "-");
}

TEST_F(File, GivesTheReasonWhyAFolderCannotBeMade) {
  const bool root = ::geteuid() == 0;
  ::chmod(folder_.c_str(), S_IRUSR | S_IXUSR | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
  constexpr uid_t kNobody = 65534;  // root may write everywhere
  ASSERT_EQ(::seteuid(root ? kNobody : ::geteuid()), 0);
  const std::string message = error_of([&] { make_folders(path("new/b")); });
  ASSERT_EQ(::seteuid(root ? 0 : ::geteuid()), 0);
  ::chmod(folder_.c_str(), S_IRWXU);
  EXPECT_EQ(message, "data/file: " + path("new") + ": cannot be made: Permission denied");
}

}  // namespace
}  // namespace heed::testing
