#include "apps/cli/program_name.h"

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

class ProgramName : public testing::FolderTest {
 protected:
  std::string with_program(const std::string& name) const {
    write(name, "#!/bin/sh\n");
    ::chmod(path(name).c_str(), 0755);
    return folder_;
  }
};

TEST_F(ProgramName, IsThePathThatTheUserWrote) {
  EXPECT_EQ(program_name("build/release/bin/heed", "/usr/bin", "/x/heed"), "build/release/bin/heed");
  EXPECT_EQ(program_name("./heed", "", "/x/heed"), "./heed");
  EXPECT_EQ(program_name("/my programs/heed", "", "/x/heed"), "'/my programs/heed'");
}

TEST_F(ProgramName, IsTheBareNameIfItIsOnThePath) {
  EXPECT_EQ(program_name("heed", "/nowhere:" + with_program("heed"), "/x/heed"), "heed");
}

TEST_F(ProgramName, IsTheFileIfItIsNotOnThePath) {
  EXPECT_EQ(program_name("heed", folder_, "/my programs/heed"), "'/my programs/heed'");
  EXPECT_EQ(program_name("heed", "", ""), "heed");
}

}  // namespace
}  // namespace heed::cli
