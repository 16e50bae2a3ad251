// checkpoint.safetensors: invalid files and their messages.

#include "heed/train/run/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/train/run/testing_folder.h"

namespace heed {
namespace {

using testing::Folder;
using testing::refusal;
using Json = nlohmann::json;

std::string refusal_of_state(const Json& state, const std::function<void(const StateFields&)>& read) {
  return refusal([&] { read(StateFields("runs/x/checkpoint.safetensors", state)); });
}

TEST(Checkpoint, ComesBackAsItWasSaved) {
  const Folder folder;
  save_checkpoint(folder.path("c"), {{"values", at::ones({3})}}, {{"step", 7}});
  const Checkpoint checkpoint = load_checkpoint(folder.path("c"));
  EXPECT_EQ(checkpoint.state.integer("step"), 7);
  EXPECT_EQ(checkpoint.state.integer("format"), 3);
  EXPECT_TRUE(checkpoint.tensors.at("values").equal(at::ones({3})));
}

TEST(Checkpoint, IsRefusedInAnotherFormat) {
  const Folder folder;
  const std::string path = folder.path("c");
  save_checked(path, {}, {{"state", R"({"step": 7})"}});
  std::string said = refusal([&] { load_checkpoint(path); });
  EXPECT_NE(said.find(path + ": got format 1, expected 3"), std::string::npos) << said;
  EXPECT_NE(said.find("heed 0.1.0"), std::string::npos) << said;
  save_checked(path, {}, {{"state", R"({"format": 4, "heed": "9.1"})"}});
  said = refusal([&] { load_checkpoint(path); });
  EXPECT_NE(said.find("got format 4, expected 3"), std::string::npos) << said;
  EXPECT_NE(said.find("\"9.1\" reads it"), std::string::npos) << said;
}

TEST(Checkpoint, IsRefusedWithoutItsChecksum) {
  const Folder folder;
  const std::string path = folder.path("c");
  save_checkpoint(path, {{"values", at::ones({3})}}, {{"step", 7}});
  const Safetensors saved = load_safetensors(path);
  Metadata other = saved.metadata;
  other["state"] = R"({"format":3,"step":8})";
  save_safetensors(path, saved.tensors, other);
  EXPECT_NE(refusal([&] { load_checkpoint(path); }).find(path + ": the checksum of its content"), std::string::npos);
  save_safetensors(path, {{"values", at::full({3}, 1.0000001F)}}, saved.metadata);
  EXPECT_NE(refusal([&] { load_checkpoint(path); }).find("the checksum of its content"), std::string::npos);
  save_safetensors(path, {{"value", at::ones({3})}}, saved.metadata);
  EXPECT_NE(refusal([&] { load_checkpoint(path); }).find("the checksum of its content"), std::string::npos);
  other = saved.metadata;
  other.erase("checksum");
  save_safetensors(path, saved.tensors, other);
  EXPECT_NE(refusal([&] { load_checkpoint(path); }).find("has no checksum"), std::string::npos);
}

TEST(Checkpoint, NamesTheErrorInItsState) {
  const Folder folder;
  for (const char* state : {"", "[]", "{", "7", R"({"format": "3"})", R"({"format": 3.0})"}) {
    save_checked(folder.path("c"), {}, {{"state", state}});
    const std::string said = refusal([&] { load_checkpoint(folder.path("c")); });
    EXPECT_EQ(said.find(folder.path("c") + ": got "), 0U) << state << ": " << said;
    EXPECT_EQ(said.find("exception"), std::string::npos) << said;
  }
  save_checked(folder.path("c"), {}, {});
  EXPECT_NE(refusal([&] { load_checkpoint(folder.path("c")); }).find("got no state"), std::string::npos);
}

TEST(Checkpoint, HasFieldsOfOneTypeAndRange) {
  const auto step = [](const StateFields& state) { state.integer("step", 0, 100); };
  for (const Json& wrong : {Json(-1), Json(1.5), Json(101), Json("7"), Json(nullptr), Json(true),
                            Json(18446744073709551615ULL), Json::array({7})}) {
    const std::string said = refusal_of_state({{"step", wrong}}, step);
    EXPECT_EQ(said, "runs/x/checkpoint.safetensors: got " + wrong.dump() +
                        " for state.step, expected an integer from 0 to 100; the file is damaged, restore it from a "
                        "copy or start over with --force");
  }
  EXPECT_NE(refusal_of_state(Json::object(), step).find("got no state.step"), std::string::npos);
  EXPECT_EQ(refusal_of_state({{"step", 100}}, step), "nothing was refused");
  const auto number = [](const StateFields& state) { state.number("loss"); };
  for (const Json& wrong : {Json("1"), Json(nullptr), Json(false), Json::parse("1e400", nullptr, false)})
    EXPECT_NE(refusal_of_state({{"loss", wrong}}, number), "nothing was refused") << wrong;
  EXPECT_NE(refusal_of_state({{"done", 1}}, [](const auto& s) { s.flag("done"); }).find("true or false"),
            std::string::npos);
  EXPECT_NE(refusal_of_state({{"device", 1}}, [](const auto& s) { s.text("device"); }).find("a text"),
            std::string::npos);
  EXPECT_NE(
      refusal_of_state({{"train_state", 1}}, [](const auto& s) { s.object("train_state"); }).find("state.train_state"),
      std::string::npos);
}

TEST(Checkpoint, HasTensorsOfOneTypeAndShapeWithFiniteValues) {
  const auto like = at::zeros({3});
  const auto said = [&](const NamedTensors& tensors) {
    const Checkpoint checkpoint{"c", tensors, StateFields("c", Json::object())};
    return refusal([&] { check_tensor(checkpoint, "values", like); });
  };
  EXPECT_EQ(said({{"values", at::ones({3})}}), "nothing was refused");
  EXPECT_NE(said({}).find("got no tensor 'values'"), std::string::npos);
  EXPECT_NE(said({{"values", at::ones({1})}}).find("Float [1], expected Float [3]"), std::string::npos);
  EXPECT_NE(said({{"values", at::ones({3}, at::kDouble)}}).find("Double [3]"), std::string::npos);
  EXPECT_NE(said({{"values", at::full({3}, NAN)}}).find("NaN or infinite"), std::string::npos);
}

}  // namespace
}  // namespace heed
