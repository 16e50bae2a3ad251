// log.txt and its lines on the screen.

#include "heed/train/run/log.h"

#include <cstdlib>
#include <ctime>
#include <vector>

#include <gtest/gtest.h>

#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

/// Sets the time zone to UTC during its lifetime.
class Greenwich {
 public:
  Greenwich() {
    const char* zone = std::getenv("TZ");
    had_ = zone != nullptr;
    if (zone) before_ = zone;
    use("UTC");
  }
  ~Greenwich() {
    if (had_) {
      use(before_.c_str());
    } else {
      ::unsetenv("TZ");
      ::tzset();
    }
  }

 private:
  static void use(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  bool had_ = false;
  std::string before_;
};

TEST(Log, StampsTheLinesOfTheFileAndShowsThemPlain) {
  const Greenwich greenwich;
  const Folder folder;
  std::vector<std::string> shown;
  double now = 951868799.9;  // 2000-02-29 23:59:59.9
  {
    Log log(
        folder.path(), [&](const std::string& line) { shown.push_back(line); }, [&] { return now; });
    log.line("epoch 1: loss 3.2");
  }
  now += 1;
  Log(folder.path(), nullptr, [&] { return now; }).line("resumed");
  EXPECT_EQ(folder.content("log.txt"), "2000-02-29 23:59:59  epoch 1: loss 3.2\n2000-03-01 00:00:00  resumed\n");
  EXPECT_EQ(shown, std::vector<std::string>{"epoch 1: loss 3.2"});
}

}  // namespace
}  // namespace heed::testing
