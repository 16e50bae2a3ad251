#include "heed/base/renamed.h"

#include <functional>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/base/settings.h"
#include "heed/base/spec.h"

namespace heed::testing {
namespace {

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RenamedSettings, AreFoundWhereTheirNewNameIsKnown) {
  EXPECT_EQ(replacement_of("epochs", {"max_steps", "max_epochs"}), "max_epochs");
  EXPECT_EQ(replacement_of("words", {"features", "embedding"}), "embedding");
  EXPECT_EQ(replacement_of("words", {"mechanism", "num_heads"}), "mechanism");
  EXPECT_EQ(replacement_of("epochs", {"seed"}), "");
  EXPECT_EQ(replacement_of("seed", {"seed", "max_epochs"}), "");
}

TEST(RenamedSettings, AreRefusedWithTheNewName) {
  Setting train = Setting::map();
  train.names = {"epochs"};
  train.items = {Setting::scalar("3")};
  Setting written = Setting::map();
  written.names = {"train"};
  written.items = {train};
  const Settings recipe(written, "recipe");
  recipe.at("train").integer("max_epochs", 20);
  EXPECT_EQ(error_of([&] { recipe.refuse_unread(); }),
            "recipe: got train.epochs, expected train.max_epochs: the key has a new name");
}

TEST(RenamedSettings, AreRefusedInSpecsToo) {
  const auto parsed = parse_part("multi_head(heads=8)", "structure");
  const Options options = parsed.options.unread();
  options.integer("num_heads", 2);
  EXPECT_EQ(error_of([&] { options.refuse_unread(); }),
            "structure/multi_head: got heads, expected num_heads: the option has a new name");
}

}  // namespace
}  // namespace heed::testing
