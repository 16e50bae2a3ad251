#include "heed/data/safetensors.h"

#include <array>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include "heed/base/check.h"

namespace heed {
namespace {

/// The names in a folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  for (const dirent* entry = open ? ::readdir(open) : nullptr; entry; entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (open) ::closedir(open);
  return names;
}

/// A folder of its own for every test, gone afterwards.
class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest() {
    std::string pattern = testing::TempDir() + "heed_safetensors_XXXXXX";
    check(::mkdtemp(pattern.data()) != nullptr, "no temporary folder in ", testing::TempDir());
    folder_ = pattern;
  }
  ~SafetensorsTest() override {
    for (const auto& name : names_in(folder_)) ::remove(path(name).c_str());
    ::rmdir(folder_.c_str());
  }

  std::string path(const std::string& name = "a.safetensors") const { return folder_ + "/" + name; }

  std::string write(const std::string& bytes) const {
    ::unlink(path().c_str());  // some file systems wait for the disk when a file is emptied and written again
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  /// What load_safetensors says of these bytes; "" when it takes them.
  std::string refusal(const std::string& bytes) const {
    write(bytes);
    try {
      load_safetensors(path());
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  size_t files_in_folder() const { return names_in(folder_).size(); }

  std::string folder_;
};

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string length_bytes(uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

std::string file_of(const std::string& header, const std::string& data = "") {
  return length_bytes(header.size()) + header + data;
}

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    if (message.find(part) == std::string::npos) return testing::AssertionFailure() << message << "\n  lacks: " << part;
  }
  return testing::AssertionSuccess();
}

void expect_same(const at::Tensor& got, const at::Tensor& expected) {
  EXPECT_EQ(got.scalar_type(), expected.scalar_type());
  EXPECT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(at::equal(got, expected)) << got << "\nexpected\n" << expected;
}

// ---- the reference implementation's bytes ----

// Made with the Python packages safetensors 0.8.0 and torch 2.x:
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

NamedTensors reference_tensors() {
  return {{"f64", torch::tensor({1.5, -2.0}, at::kDouble).view({1, 2})},
          {"f32", torch::tensor({1.0, 2.0, 3.0}, at::kFloat)},
          {"f16", torch::tensor({0.5}, at::kHalf)},
          {"bf16", torch::tensor({-1.0, 3.0}, at::kBFloat16)},
          {"i64", torch::tensor(-7, at::kLong)},
          {"i32", torch::tensor({-1}, at::kInt)},
          {"i16", torch::tensor({258}, at::kShort)},
          {"i8", torch::tensor({-128, 127}, at::kChar)},
          {"u8", torch::tensor({255}, at::kByte)},
          {"mask", torch::tensor({true, false, true})},
          {"empty", torch::zeros({2, 0})},
          {"汤姆 \"quoted\"\t", torch::tensor(2.5F)}};
}

TEST_F(SafetensorsTest, ReadsWhatTheReferenceImplementationWrote) {
  const Safetensors loaded = load_safetensors(write(reference_file()));
  const NamedTensors expected = reference_tensors();
  ASSERT_EQ(loaded.tensors.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(loaded.tensors.count(name), 1U) << name;
    expect_same(loaded.tensors.at(name), tensor);
  }
  EXPECT_EQ(loaded.metadata, (Metadata{{"format", "pt"}}));
}

TEST_F(SafetensorsTest, WritesTheBytesOfTheReferenceImplementation) {
  save_safetensors(path(), reference_tensors(), {{"format", "pt"}});
  EXPECT_EQ(read_bytes(path()), reference_file());
}

// ---- round trips ----

TEST_F(SafetensorsTest, BringsBackEveryTypeInEveryShape) {
  const std::vector<at::ScalarType> types = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                             at::kInt,    at::kShort, at::kChar, at::kByte,     at::kBool};
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {7}, {3, 5}, {2, 0, 3}, {0, 1000000}, {2, 1, 3, 4}};
  NamedTensors tensors;
  for (const auto type : types) {
    for (const auto& shape : shapes) {
      const std::string name = std::string(c10::toString(type)) + "." + std::to_string(tensors.size());
      tensors[name] = at::randint(0, 100, shape, at::kFloat).to(type);
    }
  }
  save_safetensors(path(), tensors);
  const Safetensors loaded = load_safetensors(path());
  ASSERT_EQ(loaded.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) expect_same(loaded.tensors.at(name), tensor);
}

TEST_F(SafetensorsTest, KeepsEveryBitOfNaNsInfinitiesAndNegativeZero) {
  const auto bits = torch::tensor({0x7fc00001, -0x00400000 + 5, 0x7f800000, INT32_MIN, 1}, at::kInt);
  save_safetensors(path(), {{"odd", bits.view(at::kFloat)}});
  expect_same(load_safetensors(path()).tensors.at("odd").view(at::kInt), bits);
}

TEST_F(SafetensorsTest, WritesViewsAsTheyLook) {
  const auto table = torch::arange(12, at::kFloat).view({3, 4});
  const NamedTensors views = {
      {"transposed", table.t()},
      {"strided", table.slice(1, 1, 4, 2)},
      {"expanded", table[0].expand({5, 4})},
      {"negated", at::_neg_view(table)},  // torch only notes the sign; imag(conj(x)) is such a view
      {"learned", table.clone().requires_grad_()}};
  save_safetensors(path(), views);
  const auto loaded = load_safetensors(path()).tensors;
  for (const auto& [name, view] : views) {
    expect_same(loaded.at(name), view.detach().resolve_neg());
    EXPECT_TRUE(loaded.at(name).is_contiguous()) << name;
    EXPECT_FALSE(loaded.at(name).requires_grad()) << name;
  }
}

TEST_F(SafetensorsTest, WritesTensorsOfTheGpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const auto table = torch::arange(12, at::kFloat).view({3, 4});
  save_safetensors(path(), {{"x", table.to(at::kCUDA).t()}});
  expect_same(load_safetensors(path()).tensors.at("x"), table.t());
}

TEST_F(SafetensorsTest, BringsBackMetadata) {
  const Metadata metadata = {
      {"", "empty key"}, {"line", "a\nb\t\"c\"\\"}, {"汤姆", "杰瑞"}, {"zero", std::string("a\0b", 3)}};
  save_safetensors(path(), {}, metadata);
  const Safetensors loaded = load_safetensors(path());
  EXPECT_EQ(loaded.metadata, metadata);
  EXPECT_TRUE(loaded.tensors.empty());
}

TEST_F(SafetensorsTest, StartsEveryTensorAtAMultipleOfItsElement) {
  save_safetensors(
      path(),
      {{"a", torch::ones({3}, at::kBool)}, {"b", torch::ones({3}, at::kHalf)}, {"c", torch::ones({1}, at::kDouble)}});
  const std::string bytes = read_bytes(path());
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_TRUE(says(bytes, {R"("c":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})",
                           R"("b":{"dtype":"F16","shape":[3],"data_offsets":[8,14]})",
                           R"("a":{"dtype":"BOOL","shape":[3],"data_offsets":[14,17]})"}));
}

TEST_F(SafetensorsTest, TakesTensorsNamedInAnyOrderAndWhitespaceBetween) {
  const std::string header = R"({ "b": {"data_offsets": [4, 6], "shape": [2], "dtype": "U8"},
                                  "e": {"dtype": "F64", "shape": [0], "data_offsets": [4, 4]},
                                  "a": {"dtype": "I32", "shape": [], "data_offsets": [0, 4]} })";
  const auto loaded = load_safetensors(write(file_of(header, std::string("\x05\0\0\0\x07\x08", 6)))).tensors;
  expect_same(loaded.at("a"), torch::tensor(5, at::kInt));
  expect_same(loaded.at("b"), torch::tensor({7, 8}, at::kByte));
  expect_same(loaded.at("e"), torch::zeros({0}, at::kDouble));
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

TEST_F(SafetensorsTest, SaysWhatIsWrongWithAHeader) {
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
    EXPECT_TRUE(says(refusal(file_of(header, data)), {"data/safetensors: " + path() + ": ", message})) << header;
  }
}

TEST_F(SafetensorsTest, RefusesMoreAxesThanTorchHandles) {
  const auto axes = [](int count) {
    std::string shape = "[1";
    for (int i = 1; i < count; ++i) shape += ",1";
    return file_of(one("U8", shape + "]", "[0,1]"), "a");
  };
  EXPECT_EQ(refusal(axes(64)), "");
  EXPECT_TRUE(says(refusal(axes(65)), {"shape of 'x' holds a list of more than 64, expected a list of at most 64"}));
}

TEST_F(SafetensorsTest, RefusesAFileCutAtAnyByteOrContinued) {
  const std::string whole = reference_file();
  ASSERT_EQ(refusal(whole), "");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(says(refusal(whole.substr(0, size)), {path()})) << size << " bytes";
  EXPECT_TRUE(says(refusal(whole + '\0'), {"something was appended"}));
}

TEST_F(SafetensorsTest, DoesNotBelieveALengthThatTheFileCannotHave) {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{7}, uint64_t{10'000'000'000}, uint64_t{3}}) {
    EXPECT_TRUE(says(refusal(length_bytes(length) + "{}"),
                     {"the header should have " + std::to_string(length) + " bytes, but 2 follow"}))
        << length;
  }
  EXPECT_TRUE(says(refusal(file_of(one("U8", "[1099511627776]", "[0,1099511627776]"), "abcd")),
                   {"the data has 4 bytes, expected 1099511627776; the file is cut short"}));
  // A sparse file that really has the bytes: the limit on headers holds.
  write(length_bytes(10'000'000'000) + "{}");
  ASSERT_EQ(::truncate(path().c_str(), 10'000'000'008), 0);
  EXPECT_TRUE(says(error_of([&] { load_safetensors(path()); }),
                   {"the header has 10000000000 bytes, expected at most 100000000"}));
}

TEST_F(SafetensorsTest, SurvivesDeepNesting) {
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(says(refusal(file_of("{\"x\":" + deep)), {"tensor 'x' is a list"}));
  EXPECT_TRUE(says(refusal(file_of(one("U8", deep, "[0,0]"))), {"shape of 'x' holds a list"}));
}

TEST_F(SafetensorsTest, KeepsControlCharactersAndLongNamesOutOfItsMessages) {
  const std::string message = refusal(file_of("{\"\\u001b[31m" + std::string(5000, 'n') + "\":1}"));
  EXPECT_TRUE(says(message, {"'\\u001b[31mnnn", "...' is 1"}));
  EXPECT_LT(message.size(), 1000U);
}

TEST_F(SafetensorsTest, SaysWhyAPathCannotBeRead) {
  EXPECT_TRUE(says(error_of([&] { load_safetensors(path("none")); }),
                   {path("none"), "cannot be opened: No such file or directory"}));
  EXPECT_TRUE(says(error_of([&] { load_safetensors(folder_); }), {"is a folder or a device, expected a file"}));
  EXPECT_TRUE(says(error_of([&] { load_safetensors(""); }), {"cannot be opened"}));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(says(error_of([&] { load_safetensors(path("pipe")); }), {"is a folder or a device"}));
}

// ---- refusals while writing ----

TEST_F(SafetensorsTest, RefusesTensorsTheFormatCannotHold) {
  const auto message = [&](const std::string& name, const at::Tensor& tensor) {
    return error_of([&] { save_safetensors(path(), {{name, tensor}}); });
  };
  EXPECT_TRUE(says(message("x", at::Tensor()), {"'x' is undefined"}));
  EXPECT_TRUE(says(message("x", torch::zeros({1}, at::kComplexFloat)),
                   {"'x' is of type ComplexFloat", "expected one of BOOL"}));
  EXPECT_TRUE(says(message("x", torch::eye(2).to_sparse()), {"'x' is sparse or has no data"}));
  EXPECT_TRUE(says(message("x", at::empty({2}, at::TensorOptions(at::kMeta))), {"'x' is sparse or has no data"}));
  EXPECT_TRUE(says(message("__metadata__", torch::zeros({1})), {"which the format keeps for itself"}));
  EXPECT_TRUE(says(message("\xff", torch::zeros({1})), {"is not UTF-8"}));
  EXPECT_TRUE(says(error_of([&] { save_safetensors(path(), {}, {{"a", "\xc3"}}); }), {"is not UTF-8"}));
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(SafetensorsTest, SaysWhyAPathCannotBeWritten) {
  const auto message = [&](const std::string& to) {
    return error_of([&] { save_safetensors(to, {{"x", torch::ones({2})}}); });
  };
  EXPECT_TRUE(says(message(path("none/a")), {path("none/a"), "cannot be written: No such file or directory"}));
  EXPECT_TRUE(says(message(folder_), {"is a folder or a device, expected the name of a file"}));
  EXPECT_TRUE(says(message(""), {"expected the name of a file"}));
  write("a file");
  EXPECT_TRUE(says(message(path() + "/b"), {"cannot be written: Not a directory"}));
  struct stat full {};
  if (::stat("/dev/full", &full) == 0 && S_ISCHR(full.st_mode)) {  // anything else would be replaced
    EXPECT_TRUE(says(message("/dev/full"), {"is a folder or a device"}));
    EXPECT_EQ(::stat("/dev/full", &full), 0);
    EXPECT_TRUE(S_ISCHR(full.st_mode));
  }
}

TEST_F(SafetensorsTest, SaysThatAFolderMayNotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ::chmod(folder_.c_str(), S_IRUSR | S_IXUSR);
  EXPECT_TRUE(says(error_of([&] { save_safetensors(path(), {}); }), {"cannot be written: Permission denied"}));
  ::chmod(folder_.c_str(), S_IRWXU);
}

/// Lowers a limit of the process for as long as it lives.
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

TEST_F(SafetensorsTest, LeavesTheOldFileWhenTheNewOneDoesNotFit) {
  save_safetensors(path(), {{"old", torch::ones({2})}});
  const auto large = torch::zeros({1 << 16});
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  std::string message;
  {
    const Limit file_size(RLIMIT_FSIZE, 4096);
    message = error_of([&] { save_safetensors(path(), {{"new", large}}); });
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(says(message, {path(), "cannot be written: File too large"}));
  EXPECT_EQ(load_safetensors(path()).tensors.count("old"), 1U);
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(SafetensorsTest, LeavesTheOldFileWhenKilledWhileWriting) {
  save_safetensors(path(), {{"old", torch::ones({2})}});
  const auto large = torch::zeros({1 << 16});
  const auto save_beyond_the_limit = [&] {
    const Limit no_core(RLIMIT_CORE, 0), file_size(RLIMIT_FSIZE, 4096);
    std::signal(SIGXFSZ, SIG_DFL);
    save_safetensors(path(), {{"new", large}});
  };
  EXPECT_EXIT(save_beyond_the_limit(), testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_EQ(load_safetensors(path()).tensors.count("old"), 1U);
}

TEST_F(SafetensorsTest, ReplacesAFileAndLeavesNothingBeside) {
  save_safetensors(path(), {{"old", torch::ones({2})}});
  save_safetensors(path(), {{"new", torch::ones({2})}});
  EXPECT_EQ(load_safetensors(path()).tensors.count("new"), 1U);
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(SafetensorsTest, WritesThroughALink) {
  save_safetensors(path("real"), {{"old", torch::ones({2})}});
  ASSERT_EQ(::symlink("real", path("link").c_str()), 0);
  save_safetensors(path("link"), {{"new", torch::ones({2})}});
  struct stat link {};
  ASSERT_EQ(::lstat(path("link").c_str(), &link), 0);
  EXPECT_TRUE(S_ISLNK(link.st_mode));
  EXPECT_EQ(load_safetensors(path("real")).tensors.count("new"), 1U);
}

// ---- checksums ----

// Two tensors of one shape. "bias" renamed to "base" leaves the order of the names and every byte of the data as they
// were; "bias" and "gain" exchanged give each the numbers of the other.
TEST_F(SafetensorsTest, RefusesTensorsUnderOtherNamesByTheChecksum) {
  save_checked(path(), {{"bias", torch::tensor({1.0F, 2.0F})}, {"gain", torch::tensor({3.0F, 4.0F})}}, {{"step", "7"}});
  const std::string whole = read_bytes(path());
  const auto verdict = [&](const std::string& first, const std::string& second) {
    std::string bytes = whole;
    bytes.replace(whole.find("\"bias\":"), 6, '"' + first + '"');
    bytes.replace(whole.find("\"gain\":"), 6, '"' + second + '"');
    write(bytes);
    return error_of([&] { verify_checksum(load_safetensors(path()), path()); });
  };
  ASSERT_NE(whole.find("\"bias\":"), std::string::npos);
  ASSERT_NE(whole.find("\"gain\":"), std::string::npos);
  EXPECT_EQ(verdict("bias", "gain"), "no error");
  EXPECT_TRUE(says(verdict("base", "gain"), {path(), "the checksum of its content is crc32:", "the file is damaged"}));
  EXPECT_TRUE(says(verdict("gain", "bias"), {path(), "the checksum of its content is crc32:", "the file is damaged"}));
}

// ---- modules ----

struct Inner : torch::nn::Module {
  Inner() { register_parameter("absent", at::Tensor(), false); }  // as a Linear without bias has it
  at::Tensor weight = register_parameter("weight", torch::rand({3, 2}));
  at::Tensor count = register_buffer("count", torch::tensor(3, at::kLong));
};

struct Outer : torch::nn::Module {
  at::Tensor bias = register_parameter("bias", torch::rand({3}));
  std::shared_ptr<Inner> inner = register_module("inner", std::make_shared<Inner>());
};

TEST_F(SafetensorsTest, CarriesAModuleOverByName) {
  const Outer from;
  from.inner->count.fill_(42);
  save_parameters(from, path(), {{"step", "7"}});
  EXPECT_EQ(load_safetensors(path()).metadata.at("step"), "7");

  Outer to;
  const at::Tensor held = to.inner->weight;  // an optimizer's hold on it
  load_parameters(to, path());
  expect_same(held, from.inner->weight);
  expect_same(to.bias, from.bias);
  expect_same(to.inner->count, torch::tensor(42, at::kLong));
  EXPECT_TRUE(to.inner->weight.requires_grad());
  EXPECT_TRUE(to.inner->weight.is_leaf());
}

TEST_F(SafetensorsTest, NamesWhatAModuleMissesOrDoesNotKnow) {
  const auto message = [&](const NamedTensors& tensors) {
    save_safetensors(path(), tensors);
    Outer to;
    const auto before = to.bias.detach().clone();
    const std::string text = error_of([&] { load_parameters(to, path()); });
    expect_same(to.bias.detach(), before);  // refused means untouched
    return text;
  };
  const auto bias = torch::ones({3}), weight = torch::ones({3, 2}), count = torch::tensor(1, at::kLong);
  EXPECT_EQ(
      message({{"bias", bias}, {"inner.weight", weight}, {"inner.count", count}, {"inner.bias", bias}, {"z", bias}}),
      "data/safetensors: " + path() +
          ": has 'inner.bias', 'z', which the model does not know; expected a file saved from the same model");
  EXPECT_EQ(message({{"bias", bias}}),
            "data/safetensors: " + path() +
                ": lacks 'inner.count', 'inner.weight'; expected a file saved from the same model");
  EXPECT_TRUE(says(message({{"bias", bias}, {"weight", weight}, {"inner.count", count}}),
                   {"lacks 'inner.weight'; it has 'weight', which the model does not know"}));
  EXPECT_TRUE(says(message({{"bias", bias}, {"inner.weight", weight.t()}, {"inner.count", count}}),
                   {"'inner.weight' is F32 [2,3], expected F32 [3,2]; build the model"}));
  EXPECT_TRUE(says(message({{"bias", bias.to(at::kHalf)}, {"inner.weight", weight}, {"inner.count", count.view({1})}}),
                   {"'bias' is F16 [3], expected F32 [3], 'inner.count' is I64 [1], expected I64 []"}));

  NamedTensors many;
  for (int i = 0; i < 20; ++i) many["surplus" + std::to_string(10 + i)] = bias;
  EXPECT_TRUE(says(message(many), {"'surplus17' and 12 more, which the model does not know"}));
}

TEST_F(SafetensorsTest, RefusesAParameterAndABufferOfOneName) {
  Outer module;
  module.register_buffer("bias", torch::ones({1}));
  EXPECT_TRUE(says(error_of([&] { save_parameters(module, path()); }), {"a parameter and a buffer called 'bias'"}));
}

// ---- fuzzing ----

/// Changes files as chance and malice would. The same seed makes the same files everywhere: only the generator's own
/// integers are used.
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

  /// Makes the length fit the header again, so that the change reaches the JSON reader and not only the first check.
  static void repair_length(std::string& bytes) {
    const size_t close = bytes.rfind("}}");
    if (close == std::string::npos || close < 8) return;
    const size_t data = std::min(bytes.find_first_not_of(' ', close + 2), bytes.size());
    bytes.replace(0, 8, length_bytes(data - 8));
  }

  std::mt19937_64 random_;
};

/// Address space for 16 MiB more than there is now; without limit under the address sanitizer, which takes what it
/// likes.
rlim_t a_little_more_memory() {
#ifdef __SANITIZE_ADDRESS__
  return RLIM_INFINITY;
#else
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (16U << 20U);
#endif
}

TEST_F(SafetensorsTest, LoadsOrRefusesWhateverComes) {
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
      for (const auto& [name, tensor] : load_safetensors(path()).tensors) held += tensor.nbytes();
      EXPECT_LE(held, bytes.size());
      ++loaded;
    } catch (const Error& error) {
      EXPECT_TRUE(says(error.what(), {path()}));
      ++refused;
    }  // anything else, std::bad_alloc above all, fails the test
  };
  feed(small);
  const Limit memory(RLIMIT_AS, a_little_more_memory());  // the files have less than 2 KiB
  for (int i = 0; i < 10'000 && !HasFailure(); ++i) feed(mutator.mutate(seeds[static_cast<size_t>(i) % 2]));
  EXPECT_GT(loaded, 200);  // some changes are harmless: a bit of the data, a letter of a name
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace heed
