// Tests the byte format; heed/torch_support/safetensors_test.cpp tests tensors.

#include "heed/data/safetensors.h"

#include <array>
#include <cstring>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

/// The bytes of every tensor of a file.
std::map<std::string, std::string> read_all(const std::string& path) {
  const SafetensorsFile file(path);
  std::map<std::string, std::string> all;
  for (const auto* entry : file.entries()) {
    std::string bytes(entry->second.bytes(), '\0');
    file.read(*entry, bytes.data());
    all[entry->first] = bytes;
  }
  return all;
}

class SafetensorsFormat : public FolderTest {
 protected:
  using FolderTest::path;
  std::string path() const { return path("a.safetensors"); }
  std::string write(const std::string& bytes) const { return FolderTest::write("a.safetensors", bytes); }

  /// The error message for these bytes; "" if they are accepted.
  std::string refusal(const std::string& bytes) const {
    write(bytes);
    const std::string said = error_of([&] { read_all(path()); });
    return said == "no error" ? "" : said;
  }
};

std::string length_bytes(uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

std::string file_of(const std::string& header, const std::string& data = "") {
  return length_bytes(header.size()) + header + data;
}

// Written by the Python packages safetensors 0.8.0 and torch 2.x:
//
//   safetensors.torch.save_file({
//       "f64": tensor([[1.5, -2.0]], dtype=float64), "f32": tensor([1.0, 2.0, 3.0]), "f16": tensor([0.5],
//       dtype=float16), "bf16": tensor([-1.0, 3.0], dtype=bfloat16), "i64": tensor(-7), "i32": tensor([-1],
//       dtype=int32), "i16": tensor([258], dtype=int16), "i8": tensor([-128, 127], dtype=int8), "u8": tensor([255],
//       dtype=uint8), "mask": tensor([True, False, True]), "empty": zeros(2, 0), "汤姆 \"quoted\"\t": tensor(2.5)},
//       "fixture.safetensors", metadata={"format": "pt"})
std::string reference_file() {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"i64":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("f64":{"dtype":"F64","shape":[1,2],"data_offsets":[8,24]},"empty":{"dtype":"F32","shape":[2,0],"data_offsets":[24,24]},)"
      R"("f32":{"dtype":"F32","shape":[3],"data_offsets":[24,36]},"汤姆 \"quoted\"\t":{"dtype":"F32","shape":[],"data_offsets":[36,40]},)"
      R"("i32":{"dtype":"I32","shape":[1],"data_offsets":[40,44]},"bf16":{"dtype":"BF16","shape":[2],"data_offsets":[44,48]},)"
      R"("f16":{"dtype":"F16","shape":[1],"data_offsets":[48,50]},"i16":{"dtype":"I16","shape":[1],"data_offsets":[50,52]},)"
      R"("i8":{"dtype":"I8","shape":[2],"data_offsets":[52,54]},"u8":{"dtype":"U8","shape":[1],"data_offsets":[54,55]},)"
      R"("mask":{"dtype":"BOOL","shape":[3],"data_offsets":[55,58]}}   )";
  constexpr std::array<unsigned char, 58> data = {
      0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8,
      0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00,
      0x00, 0x40, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x20, 0x40, 0xff, 0xff, 0xff, 0xff, 0x80,
      0xbf, 0x40, 0x40, 0x00, 0x38, 0x02, 0x01, 0x80, 0x7f, 0xff, 0x01, 0x00, 0x01};
  return std::string("\xe0\x02\0\0\0\0\0\0", 8) + header + std::string(data.begin(), data.end());
}

TEST_F(SafetensorsFormat, ReadsTheBytesAndTheMetadataOfAFile) {
  const SafetensorsFile file(write(reference_file()));
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}}));
  const auto all = read_all(path());
  EXPECT_EQ(all.size(), 12U);
  EXPECT_EQ(all.at("i8"), "\x80\x7f");
  EXPECT_EQ(all.at("mask"), std::string("\1\0\1", 3));
  EXPECT_EQ(all.at("empty"), "");
  EXPECT_EQ(file.entries().front()->first, "i64");
  EXPECT_EQ(file.entries().back()->second.shape, std::vector<int64_t>{3});
}

TEST_F(SafetensorsFormat, WritesTheBytesItRead) {
  const SafetensorsFile file(write(reference_file()));
  std::vector<TensorBytes> tensors;
  for (const auto& [name, bytes] : read_all(path()))  // ascending names
    for (const auto* entry : file.entries())
      if (entry->first == name)
        tensors.push_back({name, entry->second.dtype, entry->second.shape, [bytes = bytes] {
                             const auto copy = std::make_shared<std::string>(bytes);
                             return std::shared_ptr<const void>(copy, copy->data());
                           }});
  write_safetensors(path("b"), tensors, file.metadata());
  EXPECT_EQ(read_file(path("b")), reference_file());
  const std::string sum = safetensors_checksum(tensors, file.metadata());
  EXPECT_EQ(safetensors_checksum(tensors, {{"format", "pt"}, {kChecksum, sum}}), sum);
  tensors.front().name += "2";
  EXPECT_NE(safetensors_checksum(tensors, file.metadata()), sum);
}

// ---- refusals while reading ----

struct Refused {
  std::string header, data, message;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":)" + entry(dtype, shape, offsets) + "}";
}

TEST_F(SafetensorsFormat, NamesTheErrorInAHeader) {
  const std::string four(4, '\0'), huge = "9223372036854775807", u8 = entry("U8", "[1]", "[0,1]");
  const std::vector<Refused> cases = {
      {"", "", "begins with '', expected '{'"},
      {"[]", "", "begins with '[', expected '{'"},
      {" {}", "", "begins with ' ', expected '{'"},
      {"{", "", "is no JSON from its byte 2 on"},
      {"{}}", "", "is no JSON from its byte 3 on"},
      {"{\"\xff\":1}", "", "is no JSON"},
      {"{\"\\ud800\":1}", "", "is no JSON"},
      {std::string("{}\0\0", 4), "", "holds a zero byte, expected JSON padded with whitespace"},
      {R"({"x":)" + u8 + R"(,"x":)" + u8 + "}", "a", "names 'x' twice"},
      {R"({"x":)" + u8 + R"(,"\u0078":)" + u8 + "}", "a", "names 'x' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "", "names '__metadata__' twice"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "", "has the key 'a' twice"},
      {R"({"__metadata__":{"a":1}})", "", "'a' is 1, expected a text"},
      {R"({"__metadata__":{"a":{}}})", "", "'a' is an object, expected a text"},
      {R"({"__metadata__":null})", "", "__metadata__ is null, expected an object of texts"},
      {R"({"x":[]})", "", "tensor 'x' is a list, expected an object with dtype, shape and data_offsets"},
      {R"({"x":true})", "", "tensor 'x' is true, expected an object"},
      {R"({"x":{}})", "", "'x' has no dtype"},
      {R"({"x":{"dtype":"U8","data_offsets":[0,1]}})", "a", "'x' has no shape"},
      {R"({"x":{"dtype":"U8","shape":[1]}})", "a", "'x' has no data_offsets"},
      {R"({"x":{"dtype":"U8","dtype":"U8"}})", "a", "'x' has dtype twice"},
      {R"({"x":{"dtype":"U8","stride":[1]}})", "a", "'x' has a field 'stride'"},
      {R"({"x":{"dtype":3}})", "", "dtype of 'x' is 3, expected one of BOOL, U8"},
      {R"({"x":{"dtype":["U8"]}})", "", "dtype of 'x' is a list, expected one of"},
      {one("F8_E4M3", "[1]", "[0,1]"), "a",
       "dtype of 'x' is 'F8_E4M3', expected one of BOOL, U8, I8, I16, F16, BF16, I32, F32, F64, I64"},
      {one("f32", "[1]", "[0,4]"), four, "dtype of 'x' is 'f32'"},
      {one("F32", "1", "[0,4]"), four, "shape of 'x' is 1, expected a list"},
      {one("F32", "[-1]", "[0,4]"), four, "shape of 'x' holds the negative number -1"},
      {one("F32", "[1.0]", "[0,4]"), four, "shape of 'x' holds the number '1.0'"},
      {one("F32", "[1e0]", "[0,4]"), four, "shape of 'x' holds the number '1e0'"},
      {one("F32", "[18446744073709551616]", "[0,4]"), four, "shape of 'x' holds the number '18446744073709551616'"},
      {one("F32", "[9223372036854775808]", "[0,4]"), four,
       "shape of 'x' holds 9223372036854775808, expected a list of at most 64 whole numbers"},
      {one("F32", "[[1]]", "[0,4]"), four, "shape of 'x' holds a list"},
      {one("F32", "[\"1\"]", "[0,4]"), four, "shape of 'x' holds the text '1'"},
      {one("F32", "[null]", "[0,4]"), four, "shape of 'x' holds null"},
      {one("F32", "[{}]", "[0,4]"), four, "shape of 'x' holds an object"},
      {one("U8", "[" + huge + ",2]", "[0,1]"), "a",
       "shape of 'x' is [9223372036854775807,2], expected less than 2^63 bytes"},
      {one("U8", "[4294967296,4294967296]", "[0,0]"), "", "expected less than 2^63 bytes"},
      {one("U8", "[0," + huge + "," + huge + "]", "[0,0]"), "", "expected less than 2^63 bytes"},
      {one("F32", "[1]", "[0,3]"), "abc", "data_offsets of 'x' span 3 bytes, expected 4 (F32 [1])"},
      {one("F32", "[1]", "[4,0]"), four, "data_offsets of 'x' are [4,0], expected begin <= end"},
      {one("F32", "[1]", "[4]"), four, "data_offsets of 'x' is a list of 1, expected a list of two whole numbers"},
      {one("F32", "[1]", "[0,4,4]"), four, "data_offsets of 'x' holds a list of more than 2"},
      {one("F32", "[1]", "[]"), four, "data_offsets of 'x' is a list of 0"},
      {one("F32", "[1]", "[4,8]"), four + four,
       "bytes 0 to 4 of the data belong to no tensor, expected 'x' to begin at 0"},
      {R"({"x":)" + u8 + R"(,"y":)" + u8 + "}", "a",
       "tensor 'y' begins at byte 0 of the data, inside another; expected 1"},
      {R"({"x":)" + u8 + R"(,"y":)" + entry("U8", "[1]", "[2,3]") + "}", "abc",
       "bytes 1 to 2 of the data belong to no tensor, expected 'y' to begin at 1"},
      {R"({"x":)" + entry("U8", "[4]", "[0,4]") + R"(,"y":)" + entry("U8", "[0]", "[2,2]") + "}", four,
       "tensor 'y' begins at byte 2 of the data, inside another; expected 4"},
      {one("F32", "[1]", "[0,4]"), "abc", "the data has 3 bytes, expected 4; the file is cut short"},
      {one("F32", "[1]", "[0,4]"), "abcde", "the data has 5 bytes, expected 4; something was appended"},
      {"{}", "a", "the data has 1 bytes, expected 0"},
      {one("BOOL", "[3]", "[0,3]"), std::string("\0\1\2", 3), "tensor 'x' is BOOL and holds a byte 2, expected 0 or 1"},
  };
  for (const auto& [header, data, message] : cases) {
    EXPECT_TRUE(says(refusal(file_of(header, data)), {"safetensors: " + path() + ": ", message})) << header;
  }
}

TEST_F(SafetensorsFormat, RefusesMoreAxesThanTorchHandles) {
  const auto axes = [](int count) {
    std::string shape = "[1";
    for (int i = 1; i < count; ++i) shape += ",1";
    return file_of(one("U8", shape + "]", "[0,1]"), "a");
  };
  EXPECT_EQ(refusal(axes(64)), "");
  EXPECT_TRUE(says(refusal(axes(65)), {"shape of 'x' holds a list of more than 64, expected a list of at most 64"}));
}

TEST_F(SafetensorsFormat, RefusesAFileCutAtAnyByteOrContinued) {
  const std::string whole = reference_file();
  ASSERT_EQ(refusal(whole), "");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(says(refusal(whole.substr(0, size)), {path()})) << size << " bytes";
  EXPECT_TRUE(says(refusal(whole + '\0'), {"something was appended"}));
}

TEST_F(SafetensorsFormat, RefusesALengthThatExceedsTheFile) {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{7}, uint64_t{10'000'000'000}, uint64_t{3}}) {
    EXPECT_TRUE(says(refusal(length_bytes(length) + "{}"),
                     {"the header should have " + std::to_string(length) + " bytes, but 2 follow"}))
        << length;
  }
  EXPECT_TRUE(says(refusal(file_of(one("U8", "[1099511627776]", "[0,1099511627776]"), "abcd")),
                   {"the data has 4 bytes, expected 1099511627776; the file is cut short"}));
  // A sparse file of that size: the limit on headers applies.
  write(length_bytes(10'000'000'000) + "{}");
  ASSERT_EQ(::truncate(path().c_str(), 10'000'000'008), 0);
  EXPECT_TRUE(
      says(error_of([&] { read_all(path()); }), {"the header has 10000000000 bytes, expected at most 100000000"}));
}

TEST_F(SafetensorsFormat, SurvivesDeepNesting) {
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(says(refusal(file_of("{\"x\":" + deep)), {"tensor 'x' is a list"}));
  EXPECT_TRUE(says(refusal(file_of(one("U8", deep, "[0,0]"))), {"shape of 'x' holds a list"}));
}

TEST_F(SafetensorsFormat, KeepsControlCharactersAndLongNamesOutOfItsMessages) {
  const std::string message = refusal(file_of("{\"\\u001b[31m" + std::string(5000, 'n') + "\":1}"));
  EXPECT_TRUE(says(message, {"'\\u001b[31mnnn", "...' is 1"}));
  EXPECT_LT(message.size(), 1000U);
}

TEST_F(SafetensorsFormat, SaysWhyAPathCannotBeRead) {
  EXPECT_TRUE(says(error_of([&] { SafetensorsFile(path("none")); }),
                   {path("none"), "cannot be opened: No such file or directory"}));
  EXPECT_TRUE(says(error_of([&] { SafetensorsFile{folder_}; }), {"is a folder or a device, expected a file"}));
  EXPECT_TRUE(says(error_of([&] { SafetensorsFile(""); }), {"cannot be opened"}));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(says(error_of([&] { SafetensorsFile(path("pipe")); }), {"is a folder or a device"}));
}

/// Lowers a resource limit of the process during its lifetime.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t max) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit lowered{std::min(max, before_.rlim_max), before_.rlim_max};
    check(::setrlimit(resource, &lowered) == 0, "the limit cannot be set");
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { ::setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

// ---- fuzzing ----

/// Mutates files, randomly and adversarially. The same seed gives the same files on every machine, because only the raw
/// integers of the generator are used.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string mutate(std::string bytes) {
    for (uint64_t change = 0, changes = 1 + below(4); change < changes; ++change) change_once(bytes);
    if (below(2) == 0 && bytes.size() >= 8) repair_length(bytes);
    return bytes;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  size_t offset_in(const std::string& bytes) { return below(bytes.size() + 1); }

  std::string token() {
    static const std::string symbols = "{}[],:\"01 \xff";
    static const std::vector<std::string> words = {
        "-1",    "1e9",   "9223372036854775807", "18446744073709551615", "4294967296",         "null",
        "\"x\"", "\\u00", "\"dtype\":\"I8\"",    "\"shape\":[]",         "\"__metadata__\":{}"};
    return below(2) == 0 ? symbols.substr(below(symbols.size()), 1) : words[below(words.size())];
  }

  void change_once(std::string& bytes) {
    const size_t at = offset_in(bytes), length = below(16);
    switch (below(8)) {
      case 0:
        bytes.insert(at, token());
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(offset_in(bytes), length));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.append(length, static_cast<char>(below(256)));
        break;
      case 5:
        replace_number(bytes, at);
        break;
      case 6:
        if (bytes.size() >= 8) bytes.replace(0, 8, length_bytes(random_() >> below(64)));
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
    }
  }

  void replace_number(std::string& bytes, size_t from) {
    const size_t first = bytes.find_first_of("0123456789", from);
    if (first == std::string::npos) return;
    const size_t past = std::min(bytes.find_first_not_of("0123456789", first), bytes.size());
    bytes.replace(first, past - first, std::to_string(below(3) == 0 ? below(70) : random_() >> below(64)));
  }

  /// Corrects the length field, so that the mutation reaches the JSON parser and not only the first check.
  static void repair_length(std::string& bytes) {
    const size_t close = bytes.rfind("}}");
    if (close == std::string::npos || close < 8) return;
    const size_t data = std::min(bytes.find_first_not_of(' ', close + 2), bytes.size());
    bytes.replace(0, 8, length_bytes(data - 8));
  }

  std::mt19937_64 random_;
};

/// 16 MiB more than the current address space; unlimited under the address sanitizer, which reserves large ranges.
rlim_t a_little_more_memory() {
#ifdef __SANITIZE_ADDRESS__
  return RLIM_INFINITY;
#else
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (16U << 20U);
#endif
}

TEST_F(SafetensorsFormat, LoadsOrRefusesEveryMutatedFile) {
  const std::string small = file_of(
      R"({"a":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]},"b":{"dtype":"BOOL","shape":[],"data_offsets":[6,7]}})",
      std::string(7, '\1'));
  const std::array<std::string, 2> seeds = {reference_file(), small};
  Mutator mutator(20240607);
  int loaded = 0, refused = 0;
  const auto feed = [&](const std::string& bytes) {
    write(bytes);
    try {
      uint64_t held = 0;
      for (const auto& [name, bytes_of] : read_all(path())) held += bytes_of.size();
      EXPECT_LE(held, bytes.size());
      ++loaded;
    } catch (const Error& error) {
      EXPECT_TRUE(says(error.what(), {path()}));
      ++refused;
    }  // any other exception, std::bad_alloc in particular, fails the test
  };
  feed(small);
  const Limit memory(RLIMIT_AS, a_little_more_memory());  // the files have less than 2 KiB
  for (int i = 0; i < 10'000 && !HasFailure(); ++i) feed(mutator.mutate(seeds[static_cast<size_t>(i) % 2]));
  EXPECT_GT(loaded, 200);  // some mutations are valid: a bit of the data, a letter of a name
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace heed::testing
