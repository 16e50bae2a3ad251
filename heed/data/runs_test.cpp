#include "heed/data/runs.h"

#include <fstream>
#include <sys/stat.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class RunFolders : public FolderTest {
 protected:
  void make_run(const std::string& name) {
    ::mkdir(path(name).c_str(), 0777);
    std::ofstream(path(name + "/config.json")) << "{}";
  }
};

TEST_F(RunFolders, AreAcceptedAsTheyAre) {
  make_run("one");
  EXPECT_TRUE(is_run(path("one")));
  EXPECT_NO_THROW(check_run(path("one")));
  EXPECT_FALSE(is_run(path("none")));
}

TEST_F(RunFolders, AreNamedWhereAFolderHoldsThem) {
  make_run("fixed");
  make_run("additive");
  make_run(".additive.new");  // being prepared
  EXPECT_EQ(runs_in(folder_), (std::vector<std::string>{path("additive"), path("fixed")}));
  EXPECT_TRUE(says(error_of([&] { check_run(folder_); }),
                   {": got a folder of 2 runs, expected one of them: ", "/additive, ", "/fixed"}));
}

TEST_F(RunFolders, AreRefusedWhenTheyAreMissing) {
  EXPECT_TRUE(says(error_of([&] { check_run(path("none")); }), {"/none: got no folder", "expected a run"}));
  EXPECT_TRUE(says(error_of([&] { check_run(folder_); }), {"got a folder without config.json", "expected a run"}));
  EXPECT_TRUE(runs_in(path("none")).empty());
}

}  // namespace
}  // namespace heed::testing
