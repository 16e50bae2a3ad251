// metrics.jsonl: one line per object, truncated on resuming.

#include "heed/train/run/metrics_log.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

TEST(MetricsLog, WritesOneObjectALineInTheOrderOfItsKeys) {
  const Folder folder;
  MetricsLog log(folder.path());
  log.write({{"step", 1}, {"loss", 2.5}, {"a", "x\ny"}});
  log.write({{"step", 2}, {"loss", std::nan("")}});
  log.write({{"text", "\xff"}});
  EXPECT_EQ(folder.content("metrics.jsonl"),
            "{\"step\":1,\"loss\":2.5,\"a\":\"x\\ny\"}\n{\"step\":2,\"loss\":null}\n{\"text\":\"\xEF\xBF\xBD\"}\n");
}

TEST(MetricsLog, HasNoGapsAndNoRepeatsAfterResuming) {
  const Folder folder;
  int64_t remembered = 0;
  {
    MetricsLog log(folder.path());
    for (int step = 1; step <= 5; ++step) {
      log.write({{"step", step}});
      if (step == 3) remembered = log.size();
    }
  }
  MetricsLog log(folder.path());
  log.truncate_to(remembered);
  for (int step = 4; step <= 5; ++step) log.write({{"step", step}});
  EXPECT_EQ(folder.content("metrics.jsonl"), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4}\n{\"step\":5}\n");
}

TEST(MetricsLog, TakesObjectsOnly) {
  const Folder folder;
  MetricsLog log(folder.path());
  EXPECT_EQ(refusal([&] { log.write(3.5); }), "train/metrics: got number, expected an object such as {\"step\": 1}");
}

}  // namespace
}  // namespace heed::testing
