#include "heed/data/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <zlib.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

class TextFile : public FolderTest {
 protected:
  Lines lines(const std::string& bytes) const { return read_lines(write("a.txt", bytes)); }
  std::string refusal(const std::string& bytes) const {
    return error_of([&] { lines(bytes); });
  }

  std::string packed(const std::string& bytes) const {
    gzFile const file = ::gzopen(path("packed.gz").c_str(), "wb");
    ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    ::gzclose(file);
    return path("packed.gz");
  }
};

TEST_F(TextFile, IsSplitIntoLines) {
  EXPECT_EQ(lines("Tom chases Jerry\n汤姆 追逐 杰瑞\n"), (Lines{"Tom chases Jerry", "汤姆 追逐 杰瑞"}));
  EXPECT_EQ(lines("a\nb"), (Lines{"a", "b"}));  // no line break after the last line
  EXPECT_EQ(lines("a\n\nb\n\n"), (Lines{"a", "", "b", ""}));
  EXPECT_EQ(lines("a\r\nb\r\n\r\nc\r"), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines("a\rb\n"), (Lines{"a\rb"}));  // only CR before LF belongs to the line break
  EXPECT_EQ(lines("\n"), (Lines{""}));
}

TEST(Fields, AreBetweenSeparators) {
  EXPECT_EQ(fields_of("a,,b c", ','), (Lines{"a", "", "b c"}));
  EXPECT_EQ(fields_of("a\t", '\t'), (Lines{"a", ""}));
  EXPECT_EQ(fields_of("", ','), (Lines{""}));
}

TEST_F(TextFile, LosesItsByteOrderMark) {
  EXPECT_EQ(lines("\xEF\xBB\xBFöl\n"), (Lines{"öl"}));
  EXPECT_EQ(lines("a\n\xEF\xBB\xBF\n"), (Lines{"a", "\xEF\xBB\xBF"}));  // only at the start
}

TEST_F(TextFile, MayBeCompressed) {
  EXPECT_EQ(read_lines(packed("eins\nzwei\n")), (Lines{"eins", "zwei"}));
  const std::string once = read_file(path("packed.gz"));
  EXPECT_EQ(lines(once), (Lines{"eins", "zwei"}));                         // independent of the file name
  EXPECT_EQ(lines(once + once), (Lines{"eins", "zwei", "eins", "zwei"}));  // concatenated gzip files
}

/// Redirects standard input to a file during its lifetime.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : before_(::dup(STDIN_FILENO)) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::dup2(file, STDIN_FILENO);
    ::close(file);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

TEST_F(TextFile, MayBeTheStandardInput) {
  {
    const StandardInput input(packed("eins\nzwei\n"));
    EXPECT_EQ(read_lines("-"), (Lines{"eins", "zwei"}));
  }
  const StandardInput input(write("a.txt", "gut\n\xFF"));
  EXPECT_TRUE(says(error_of([] { read_lines("-"); }), {"data/text: standard input:2: byte 1 is not UTF-8"}));
}

TEST_F(TextFile, IsRefusedWhenItIsMissingOrEmpty) {
  const auto message = [](const std::string& from) { return error_of([&] { read_lines(from); }); };
  EXPECT_EQ(message(path("none")), "data/text: " + path("none") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message(folder_), "data/text: " + folder_ + ": is a folder, expected a text file");
  EXPECT_EQ(refusal(""), "data/text: " + path("a.txt") + ": is empty, expected one sentence a line");
  EXPECT_TRUE(says(refusal("\xEF\xBB\xBF"), {"is empty"}));
  EXPECT_TRUE(says(message(packed("")), {"is empty"}));
}

TEST_F(TextFile, IsRefusedWithTheLineThatIsNotUtf8) {
  EXPECT_EQ(refusal("gut\nsch\xF6n\n"),
            "data/text: " + path("a.txt") + ":2: byte 4 is not UTF-8 (0xF6); save the file as UTF-8");
  EXPECT_TRUE(says(refusal("gut\n\xE6\xB1\n"), {":2: byte 1 is not UTF-8"}));  // a truncated character
  EXPECT_TRUE(says(refusal("\xED\xA0\x80"), {":1: byte 1 is not UTF-8"}));     // a surrogate
  EXPECT_TRUE(says(refusal(std::string("\xFF\xFEh\0i\0", 6)), {"looks like UTF-16"}));
}

// A gzip file truncated at any byte is refused instead of read as a shorter text.
TEST_F(TextFile, IsRefusedWhenItsGzipDataIsCutShort) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * i) + "\n";
  const std::string whole = read_file(packed(text));
  EXPECT_EQ(read_lines(path("packed.gz")).size(), 2000U);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write("cut.gz", whole.substr(0, bytes));
    const std::string message = error_of([&] { read_lines(path("cut.gz")); });
    ASSERT_TRUE(says(message, {"data/text: " + path("cut.gz") + ": "})) << bytes << " of " << whole.size();
  }
  write("cut.gz", whole.substr(0, whole.size() - 9));
  EXPECT_TRUE(says(error_of([&] { read_lines(path("cut.gz")); }), {"cut short, fetch or pack it again"}));
}

TEST_F(TextFile, IsRefusedWhenSomethingElseFollowsItsGzipData) {
  const std::string whole = read_file(packed("eins\nzwei\n"));
  const auto message = [&](const std::string& after) {
    return error_of([&] { read_lines(write("a.gz", whole + after)); });
  };
  EXPECT_EQ(message("drei\n"), "data/text: " + path("a.gz") +
                                   ": something that is not gzip data follows the gzip data (10 bytes of text); fetch "
                                   "or pack it again");
  EXPECT_TRUE(says(message("\x1F"), {"cut short"}));
  EXPECT_TRUE(says(message("\x1Fx"), {"is damaged"}));
  std::string zeros(600, '\0');
  zeros.push_back('x');
  EXPECT_TRUE(says(message(zeros), {"not gzip data follows"}));
  EXPECT_EQ(read_lines(write("b.gz", whole + std::string(200'000, '\0'))),
            (Lines{"eins", "zwei"}));  // padding as on a tape
}

TEST_F(TextFile, IsRefusedWithALineThatIsTooLong) {
  const std::string longest(kMaxLineBytes, 'x');
  EXPECT_EQ(lines("a\n" + longest + "\n")[1].size(), kMaxLineBytes);
  EXPECT_EQ(refusal("a\n" + longest + "x\n"),
            "data/text: " + path("a.txt") +
                ":2: got a line of more than 1048576 bytes, expected a sentence; break the line into sentences");
}

/// Sets the value of available_memory() during its lifetime.
class FreeMemory {
 public:
  explicit FreeMemory(const char* size) { ::setenv("HEED_MEMORY", size, 1); }
  FreeMemory(const FreeMemory&) = delete;
  FreeMemory& operator=(const FreeMemory&) = delete;
  ~FreeMemory() { ::unsetenv("HEED_MEMORY"); }
};

// A gzip file may expand a thousandfold: reading stops at the memory limit instead of exhausting the machine.
TEST_F(TextFile, IsRefusedWhenItUnpacksToMoreThanFitsIntoMemory) {
  const std::string bomb = packed(std::string(4'000'000, '\n'));
  const FreeMemory memory("10M");
  EXPECT_TRUE(says(error_of([&] { read_lines(bomb); }),
                   {"data/text: " + bomb + ": got more than ", "expected at most 5.0 MB", "split the file"}));
}

TEST_F(TextFile, MayBeReadLineByLineInLittleMemory) {
  const FreeMemory memory("1M");
  size_t count = 0, last = 0;
  each_line(packed(std::string(2'000'000, '\n')), [&](std::string_view line, size_t number) {
    count += line.empty() ? 1 : 0;
    last = number;
  });
  EXPECT_EQ(count, 2'000'000U);
  EXPECT_EQ(last, 2'000'000U);
}

TEST_F(TextFile, EndsForTheReaderBeforeALineThatIsNotUtf8) {
  Lines seen;
  const auto read = [&](std::string_view line, size_t) { seen.emplace_back(line); };
  EXPECT_TRUE(says(error_of([&] { each_line(write("a.txt", "one\ntwo\xFF\nthree\n"), read); }), {":2: byte 4"}));
  EXPECT_EQ(seen, Lines{"one"});
}

TEST_F(TextFile, IsRefusedWhenItsGzipDataIsDamaged) {
  std::string whole = read_file(packed("eins\nzwei\ndrei\n"));
  whole[whole.size() - 6] = static_cast<char>(whole[whole.size() - 6] ^ 1);  // in the checksum
  write("bad.gz", whole);
  EXPECT_TRUE(says(error_of([&] { read_lines(path("bad.gz")); }), {"is damaged", "fetch or pack it again"}));
  write("plain.gz", "no gzip\n");
  EXPECT_TRUE(says(error_of([&] { read_lines(path("plain.gz")); }), {"is called .gz but holds no gzip data"}));
}

}  // namespace
}  // namespace heed::testing
