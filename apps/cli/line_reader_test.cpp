#include "apps/cli/line_reader.h"

#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/text_file.h"

namespace heed::cli {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  void write(const std::string& text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2]{-1, -1};
};

using Lines = std::vector<std::string>;

TEST(LineReader, ReturnsAvailableLinesWithoutWaitingForMore) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("one\ntwo\nhal");
  EXPECT_EQ(reader.some(10), (Lines{"one", "two"}));
  pipe.write("f\n");
  EXPECT_EQ(reader.some(10), (Lines{"half"}));
}

TEST(LineReader, WaitsForTheFirstLine) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  std::thread slow([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pipe.write("late\r\n");
  });
  EXPECT_EQ(reader.some(10), (Lines{"late"}));
  slow.join();
}

TEST(LineReader, ReturnsAtMostMaxLinesEmptyLinesAndAnUnterminatedLastLine) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("a\n\nb\nlast");
  pipe.end();
  EXPECT_EQ(reader.some(2), (Lines{"a", ""}));
  EXPECT_EQ(reader.some(2), (Lines{"b", "last"}));
  EXPECT_TRUE(reader.some(2).empty());
}

TEST(LineReader, NamesTheLineThatIsNotUtf8) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("fine\nbr\xFFken\n");
  pipe.end();
  EXPECT_EQ(reader.some(10), (Lines{"fine"}));
  try {
    reader.some(10);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("input:2: byte 3"), std::string::npos) << error.what();
  }
}

TEST(LineReader, DropsAByteOrderMarkAtTheStartOnly) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("\xEF\xBB\xBFTom\n\xEF\xBB\xBFJerry\n");
  EXPECT_EQ(reader.some(1), (Lines{"Tom"}));
  EXPECT_EQ(reader.some(1), (Lines{"\xEF\xBB\xBFJerry"}));
  EXPECT_EQ(reader.lines(), 2);
}

TEST(LineReader, NamesTheLineThatIsTooLong) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  std::thread writer([&] {
    pipe.write("fine\n" + std::string(kMaxLineBytes, 'x') + "\n" + std::string(kMaxLineBytes + 1, 'x') + "\n");
    pipe.end();
  });
  Lines given;
  std::string message;
  try {
    for (auto lines = reader.some(10); !lines.empty(); lines = reader.some(10))
      given.insert(given.end(), lines.begin(), lines.end());
  } catch (const Error& error) {
    message = error.what();
  }
  std::string rest(1 << 16, ' ');  // lets the writer finish
  while (::read(pipe.reader(), rest.data(), rest.size()) > 0) {
  }
  writer.join();
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[1].size(), kMaxLineBytes);
  EXPECT_EQ(message,
            "standard input:3: got a line of more than 1048576 bytes, expected a sentence; break the line into "
            "sentences");
}

}  // namespace
}  // namespace heed::cli
