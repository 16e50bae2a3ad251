#include "heed/torch_support/safetensors.h"

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include "heed/base/check.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class SafetensorsTest : public FolderTest {
 protected:
  using FolderTest::path;
  std::string path() const { return path("a.safetensors"); }
  std::string write(const std::string& bytes) const { return FolderTest::write("a.safetensors", bytes); }
  size_t files_in_folder() const { return names_in(folder_).size(); }
};

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string file_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(length.data(), &size, 8);
  return length + header + data;
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
  EXPECT_EXIT(save_beyond_the_limit(), ::testing::KilledBySignal(SIGXFSZ), "");
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
      "safetensors: " + path() +
          ": has 'inner.bias', 'z', which the model does not know; expected a file saved from the same model");
  EXPECT_EQ(
      message({{"bias", bias}}),
      "safetensors: " + path() + ": lacks 'inner.count', 'inner.weight'; expected a file saved from the same model");
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

}  // namespace
}  // namespace heed::testing
