// What a report says about its origin.

#include "apps/cli/provenance.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/version.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string fact(const Provenance& provenance, const std::string& name) {
  for (const auto& [key, value] : facts(provenance))
    if (key == name) return value;
  return "none";
}

TEST(Provenance, IsThatOfThisProcess) {
  const Provenance now = provenance();
  EXPECT_NE(now.command.find("test"), std::string::npos) << now.command;
  EXPECT_EQ(now.commit, std::string(commit()));
  EXPECT_NE(now.machine.find("processor"), std::string::npos);
  EXPECT_EQ(now.date.size(), std::string("2026-11-19 13:05:00 UTC").size());
}

TEST(Provenance, CollectsSeedsCommitsAndDataOfItsRuns) {
  Provenance all{.command = "heed compare runs", .version = "1.2.3", .commit = "abc", .machine = "m", .date = "d"};
  all.add_run(Json::parse(R"({"seed": 2, "commit": "abc", "data": {"data.dev": "0123456789", "data.test": ""}})"));
  all.add_run(Json::parse(R"({"seed": 1, "commit": "abc", "data": {"data.dev": "0123456789"}})"));
  all.add_run(Json::parse(R"({"seed": "one", "data": 3})"));  // an old or damaged file adds nothing
  all.add_run(nullptr);
  EXPECT_EQ(fact(all, "seeds"), "1, 2");
  EXPECT_EQ(fact(all, "data (md5)"), "data.dev 01234567");
  EXPECT_EQ(fact(all, "runs by"), "none");
  const Json json = as_json(all);
  EXPECT_EQ(json["seeds"], Json::parse("[1, 2]"));
  EXPECT_EQ(json["data"], Json::parse(R"({"data.dev": "0123456789"})"));
  EXPECT_EQ(json["heed"], "1.2.3");
}

TEST(Provenance, ShowsRunsOfOtherDataOrOfAnotherVersion) {
  Provenance all{.command = "c", .version = "1", .commit = "abc", .machine = "m", .date = "d"};
  all.add_run(Json::parse(R"({"seed": 1, "commit": "abc", "data": {"data.dev": "11111111aa"}})"));
  all.add_run(Json::parse(R"({"seed": 1, "commit": "def", "data": {"data.dev": "22222222bb"}})"));
  EXPECT_EQ(fact(all, "seed"), "1");
  EXPECT_EQ(fact(all, "runs by"), "commit abc, def");
  EXPECT_EQ(fact(all, "data (md5)"), "data.dev 11111111 and 22222222");
  EXPECT_EQ(as_json(all)["data"]["data.dev"], Json::parse(R"(["11111111aa", "22222222bb"])"));
}

}  // namespace
}  // namespace heed::cli
