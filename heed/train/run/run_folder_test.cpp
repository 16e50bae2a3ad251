// The folder of a run: locking, replacement and recovery.

#include "heed/train/run/run_folder.h"

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"

namespace heed {
namespace {

using testing::Folder;
using testing::refusal;
using Names = std::vector<std::string>;

void put(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// Creates a run as a killed process leaves it: a checkpoint and other files.
void put_run(const std::string& folder, const std::string& text) {
  make_folders(folder);
  for (const char* name : {"/recipe.yaml", "/log.txt", "/checkpoint.safetensors"}) put(folder + name, text);
}

void make_run(const std::string& folder, const std::string& text, bool force) {
  const auto run = RunFolder::create(folder, force);
  put_run(run->path(), text);
  run->publish();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunFolder, ShowsANewRunOnlyWhenItIsComplete) {
  const Folder folder;
  const std::string x = folder.path("a/b/x");
  {
    const auto run = RunFolder::create(x, false);
    put_run(run->path(), "new");
    EXPECT_FALSE(exists(x));
    run->publish();
    EXPECT_EQ(run->path(), x);
    EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "new");
  }
  EXPECT_EQ(Folder::names(folder.path("a/b")), Names{"x"});
  EXPECT_EQ(Folder::names(x), (Names{"checkpoint.safetensors", "log.txt", "recipe.yaml"}));
}

TEST(RunFolder, LeavesNothingOfARunThatWasNotPublished) {
  const Folder folder;
  {
    const auto run = RunFolder::create(folder.path("a/b/x"), false);
    put_run(run->path(), "new");
  }
  EXPECT_TRUE(Folder::names(folder.path()).empty());
}

TEST(RunFolder, IsRefusedWhereAnyFileOfARunIs) {
  for (const char* name :
       {"model.safetensors", "results.json", "metrics.jsonl", "tokenizer.json", "config.json",
        "events.out.tfevents.0.heed", "test.hypotheses.txt", "test.predictions.tsv", "recipe.yaml"}) {
    const Folder folder;
    const std::string x = folder.path("x");
    make_folders(x);
    put(x + "/" + name, "precious");
    const std::string said = refusal([&] { RunFolder::create(x, false); });
    EXPECT_TRUE(holds(said, "already holds a run") && holds(said, name) && holds(said, "--force")) << said;
    EXPECT_EQ(read_file(x + "/" + name), "precious");
    EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
  }
}

TEST(RunFolder, IsRefusedWhereForeignFilesAre) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(x, "old");
  put(x + "/thesis.tex", "precious");
  const std::string said = refusal([&] { RunFolder::create(x, true); });
  EXPECT_TRUE(holds(said, "'thesis.tex'") && holds(said, "--force would remove it")) << said;
  for (const char* name : {"recipe.yaml", "log.txt", "checkpoint.safetensors"}) ::unlink((x + "/" + name).c_str());
  EXPECT_TRUE(holds(refusal([&] { RunFolder::create(x, false); }), "'thesis.tex'"));
  EXPECT_EQ(Folder::names(x), Names{"thesis.tex"});
}

TEST(RunFolder, ReplacesNothingThatAppearedMeanwhile) {
  const Folder folder;
  const std::string x = folder.path("x");
  const auto run = RunFolder::create(x, false);
  put_run(run->path(), "new");
  make_folders(x);
  put(x + "/thesis.tex", "precious");
  const std::string said = refusal([&] { run->publish(); });
  EXPECT_TRUE(holds(said, "'thesis.tex'")) << said;
  EXPECT_EQ(Folder::names(x), Names{"thesis.tex"});
}

TEST(RunFolder, MayBeAnEmptyFolderAndKeepsItsPermissions) {
  const Folder folder;
  const std::string x = folder.path("x");
  make_folders(x);
  ::chmod(x.c_str(), 0750);
  make_run(x, "new", false);
  EXPECT_EQ(read_file(x + "/log.txt"), "new");
  struct stat status {};
  ASSERT_EQ(::stat(x.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0750U);
}

TEST(RunFolder, KeepsTheOldRunUntilTheNewOneIsComplete) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(x, "old");
  put(x + "/results.json", "old");
  {
    const auto run = RunFolder::create(x, true);
    put_run(run->path(), "half");
    EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "old");
  }
  EXPECT_EQ(Folder::names(x), (Names{"checkpoint.safetensors", "log.txt", "recipe.yaml", "results.json"}));
  make_run(x, "new", true);
  EXPECT_EQ(Folder::names(x), (Names{"checkpoint.safetensors", "log.txt", "recipe.yaml"}));
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "new");
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
}

TEST(RunFolder, HasOneWriterAtATime) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(x, "old");
  const std::string own = "process " + std::to_string(::getpid()) + " on host ";
  {
    const auto first = RunFolder::resume(x);
    for (const auto& second : {std::function<void()>([&] { RunFolder::resume(x); }),
                               std::function<void()>([&] { RunFolder::create(x, true); }),
                               std::function<void()>([&] { RunFolder::create(x, false); })}) {
      const std::string said = refusal(second);
      EXPECT_TRUE(holds(said, "is in use") && holds(said, own) && holds(said, x)) << said;
    }
  }
  RunFolder::resume(x);
  {
    const auto first = RunFolder::create(folder.path("y"), false);
    EXPECT_TRUE(holds(refusal([&] { RunFolder::create(folder.path("y"), false); }), "is in use"));
    put_run(first->path(), "new");
    first->publish();
    EXPECT_TRUE(holds(refusal([&] { RunFolder::resume(folder.path("y")); }), "is in use"));
  }
}

TEST(RunFolder, IsTakenOverFromAProcessThatWasKilled) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(x, "old");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto run = RunFolder::resume(x);
    ::close(ready[1]);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char nothing = 0;
  EXPECT_EQ(::read(ready[0], &nothing, 1), 0);  // the child has the lock
  ::close(ready[0]);
  EXPECT_TRUE(holds(refusal([&] { RunFolder::resume(x); }), "process " + std::to_string(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(RunFolder::resume(x)->path(), x);
}

TEST(RunFolder, LosesWhatKilledProcessesLeft) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(x, "old");
  for (const char* name : {"/checkpoint.safetensors.4711.3.part", "/test.hypotheses.txt.1.0.part", "/.lock"})
    put(x + name, "left");
  put(x + "/movie.part", "precious");
  put_run(folder.path(".x.new"), "half");
  RunFolder::resume(x);
  EXPECT_EQ(Folder::names(x), (Names{"checkpoint.safetensors", "log.txt", "movie.part", "recipe.yaml"}));
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
}

TEST(RunFolder, EndsAnExchangeThatWasKilledBetweenItsRenames) {
  const Folder folder;
  const std::string x = folder.path("x"), fresh = folder.path(".x.new"), old = folder.path(".x.old");
  put_run(old, "old");
  put_run(fresh, "new");
  EXPECT_TRUE(holds(refusal([&] { RunFolder::create(x, false); }), "already holds a run"));
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "new");
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});

  ASSERT_EQ(::rename(x.c_str(), old.c_str()), 0);  // the new run is not complete
  make_folders(fresh);
  put(fresh + "/recipe.yaml", "half");
  RunFolder::resume(x);
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "new");
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
}

TEST(RunFolder, IsFoundAgainAfterAnExchangeThatWasKilled) {
  const Folder folder;
  const std::string x = folder.path("x");
  RunFolder::finish_replacement(x);
  EXPECT_TRUE(Folder::names(folder.path()).empty());
  put_run(folder.path(".x.old"), "old");
  RunFolder::finish_replacement(x + "/");
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "old");
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
}

TEST(RunFolder, GoesOnWithARunThatWasKilledJustBeforeItsRename) {
  const Folder folder;
  const std::string x = folder.path("x");
  put_run(folder.path(".x.new"), "new");
  RunFolder::resume(x);
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "new");
  ASSERT_EQ(::rename(x.c_str(), folder.path(".x.new").c_str()), 0);
  make_run(x, "other", false);  // or is started anew
  EXPECT_EQ(read_file(x + "/checkpoint.safetensors"), "other");
  EXPECT_EQ(Folder::names(folder.path()), Names{"x"});
}

TEST(RunFolder, SaysThatThereIsNothingToResume) {
  const Folder folder;
  EXPECT_TRUE(holds(refusal([&] { RunFolder::resume(folder.path("a/x")); }), "nothing to resume"));
  EXPECT_TRUE(Folder::names(folder.path()).empty());
  put_run(folder.path("x"), "old");
  ::unlink(folder.path("x/checkpoint.safetensors").c_str());
  EXPECT_TRUE(holds(refusal([&] { RunFolder::resume(folder.path("x")); }), "nothing to resume"));
}

TEST(RunFolder, IsReplacedThroughALink) {
  const Folder folder;
  const std::string link = folder.path("link");
  put_run(folder.path("real"), "old");
  ASSERT_EQ(::symlink("real", link.c_str()), 0);
  make_run(link + "/", "new", true);
  struct stat status {};
  ASSERT_EQ(::lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_EQ(read_file(folder.path("real/checkpoint.safetensors")), "new");
  EXPECT_EQ(Folder::names(folder.path()), (Names{"link", "real"}));
  ASSERT_EQ(::symlink("nowhere", folder.path("dangling").c_str()), 0);
  EXPECT_TRUE(holds(refusal([&] { RunFolder::create(folder.path("dangling"), false); }), "is a link to a folder"));
}

TEST(RunFolder, IsNotReplacedWhileItIsTheCurrentDirectory) {
  const Folder folder;
  const std::string x = folder.path("x");
  make_folders(x);
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof before), nullptr);
  ASSERT_EQ(::chdir(x.c_str()), 0);
  const std::string said = refusal([&] { RunFolder::create(".", false); });
  make_run("run", "new", false);  // a folder below is fine
  ASSERT_EQ(::chdir(before), 0);
  EXPECT_TRUE(holds(said, "current directory")) << said;
  EXPECT_EQ(read_file(x + "/run/log.txt"), "new");
}

// "demo2" begins with "demo", and is not in it.
TEST(RunFolder, IsReplacedFromAFolderWhoseNameBeginsWithItsOwn) {
  const Folder folder;
  put_run(folder.path("demo"), "old");
  make_folders(folder.path("demo2"));
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof before), nullptr);
  ASSERT_EQ(::chdir(folder.path("demo2").c_str()), 0);
  const std::string said = refusal([] { make_run("../demo", "new", true); });
  ASSERT_EQ(::chdir(before), 0);
  EXPECT_EQ(said, "nothing was refused");
  EXPECT_EQ(folder.content("demo/checkpoint.safetensors"), "new");
  EXPECT_EQ(Folder::names(folder.path()), (Names{"demo", "demo2"}));
}

TEST(RunFolder, IsNoFile) {
  const Folder folder;
  put(folder.path("x"), "text");
  EXPECT_TRUE(holds(refusal([&] { RunFolder::create(folder.path("x"), true); }), "is a file, expected a folder"));
  EXPECT_TRUE(holds(refusal([&] { RunFolder::create(folder.path("x/y"), true); }), "is a file, expected a folder"));
  EXPECT_EQ(folder.content("x"), "text");
}

}  // namespace
}  // namespace heed
