#include "apps/cli/torch/info.h"

#include <sstream>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/torch_support/threads.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

std::string info(bool json) {
  std::ostringstream out;
  print_info(out, json);
  return out.str();
}

TEST(Info, WritesJson) {
  const auto all = nlohmann::json::parse(info(true));
  EXPECT_EQ(all["version"], kVersion);
  EXPECT_EQ(all["threads"], at::get_num_threads());
  EXPECT_EQ(all["blas"]["threads"], blas_in_use().threads);
  EXPECT_GT(all["scores"], 0);
}

TEST(Info, WarnsExactlyWhereBlasDoes) {
  const auto text = info(false);
  EXPECT_NE(text.find(std::string(kVersion)), std::string::npos);
  EXPECT_EQ(text.find("warning") != std::string::npos, !blas_in_use().warning().empty()) << text;
}

}  // namespace
}  // namespace heed::cli
