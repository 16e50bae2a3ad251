#include "apps/cli/torch/explain_records.h"

#include <csignal>
#include <limits>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::error_of;
using testing::says;
using Json = nlohmann::ordered_json;

/// Three batches of five texts.
class Records : public testing::FolderTest {
 protected:
  static Json record_of(size_t item) { return {{"tau", 1 / (3.0 + static_cast<double>(item))}, {"text", "a\nb"}}; }

  RecordFile open(const Json& key = {{"seed", 1}}, bool again = false) const {
    return {path("records"), key, batches_, again};
  }
  void append(RecordFile& file, size_t batch) const {
    std::vector<Json> records;
    for (const size_t item : batches_[batch]) records.push_back(record_of(item));
    file.append(records);
  }
  std::string whole() const {
    RecordFile file = open();
    for (size_t b = file.batches(); b < batches_.size(); ++b) append(file, b);
    return read_file(path("records"));
  }

  ExplanationBatches batches_{{3, 0}, {4}, {1, 2}};
};

TEST_F(Records, AreReadByItemBitForBit) {
  whole();
  const auto records = open().read();
  ASSERT_EQ(records.size(), 5U);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(records[i]["item"], i);
    EXPECT_EQ(records[i]["tau"].get<double>(), record_of(i)["tau"].get<double>());
  }
}

TEST_F(Records, GoOnAfterAKillAtAnyByte) {
  const std::string all = whole();
  for (size_t bytes = 0; bytes <= all.size(); ++bytes) {
    write("records", all.substr(0, bytes));
    EXPECT_EQ(whole(), all) << bytes;
  }
}

TEST_F(Records, OfAnotherKeyAreDropped) {
  whole();
  RecordFile file = open({{"seed", 2}, {"set", "dev"}});
  EXPECT_EQ(file.batches(), 0U);
  EXPECT_EQ(file.difference(), "seed is 2, there 1; set is \"dev\", there \"not known\"");
  append(file, 0);
  EXPECT_EQ(open({{"seed", 2}, {"set", "dev"}}).batches(), 1U);
}

TEST_F(Records, AreMeasuredAgainOnRequest) {
  whole();
  EXPECT_EQ(open({{"seed", 1}}, /*again=*/true).batches(), 0U);
  EXPECT_EQ(open().batches(), 0U);
}

TEST_F(Records, HaveNoNumbersThatAreNotFinite) {
  RecordFile file = open();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  file.append({{{"tau", nan}, {"fine", 2}}, {{"points", {1.0, -1 / 0.0}}, {"inner", {{"tau", 0.5}}}}});
  EXPECT_EQ(read_file(path("records")).find("null"), std::string::npos);
  const auto records = file.read();
  EXPECT_EQ(records[1].dump(), R"({"item":3,"fine":2,"undefined_not_finite":1})");
  EXPECT_EQ(records[0].dump(), R"({"item":0,"inner":{"tau":0.5},"undefined_not_finite":1})");
}

TEST_F(Records, OfAForeignFileAreRefused) {
  for (const std::string content : {"id\ttext\n", "{}\n", "no line", "{\"heed\"", "{\"heed_records\": 1}\n"}) {
    write("records", content);
    EXPECT_TRUE(says(error_of([&] { open(); }), {"records: got a first line '", "expected records"})) << content;
    EXPECT_EQ(read_file(path("records")), content);
  }
}

TEST_F(Records, ThatAreBrokenInTheMiddleAreRefused) {
  const std::string all = whole();
  const auto refusal = [&](const std::string& content) {
    write("records", content);
    return error_of([&] { open(); });
  };
  const size_t second = all.find('\n') + 1, third = all.find('\n', second) + 1;
  EXPECT_TRUE(says(refusal(all.substr(0, second) + "###\n" + all.substr(third)), {"no record in line 2"}));
  EXPECT_TRUE(says(refusal(all.substr(0, second) + all.substr(third)), {"text 0 in line 2 in place of text 3"}));
  EXPECT_TRUE(says(refusal(all + "{\"item\":9}\n"), {"more lines than the 5 texts"}));
}

TEST_F(Records, AreOneForEachText) {
  RecordFile file = open();
  EXPECT_TRUE(says(error_of([&] { file.append({record_of(3)}); }), {"got 1 records of 2 texts"}));
}

TEST_F(Records, OnAFullDiskAreThoseOfWholeBatches) {
  const std::string all = whole();
  write("records", "");
  RecordFile file = open();
  append(file, 0);
  const std::string before = read_file(path("records"));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit unlimited = limit;
  limit.rlim_cur = before.size() + 10;
  const auto signal = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_THROW(append(file, 1), WriteError);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  std::signal(SIGXFSZ, signal);
  EXPECT_EQ(read_file(path("records")), before);
  EXPECT_EQ(whole(), all);
}

TEST(ExplanationBatches, AreOfSimilarCost) {
  EXPECT_EQ(batches_by_cost({3, 10, 5, 40, 4}, 20, 64), (ExplanationBatches{{3}, {1, 2}, {4, 0}}));
  EXPECT_EQ(batches_by_cost({1, 1, 1}, 20, 2), (ExplanationBatches{{0, 1}, {2}}));
  EXPECT_EQ(batches_by_cost({0, 0}, 1, 2), (ExplanationBatches{{0}, {1}}));
  EXPECT_TRUE(batches_by_cost({}, 20, 2).empty());
}

}  // namespace
}  // namespace heed::cli
