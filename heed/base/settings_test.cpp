// Settings, valid and invalid.

#include "heed/base/settings.h"

#include <functional>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// train: {lr: 1e-3, epochs: 20}, model: {attention: additive + softmax}, data: {train: [a.en, a.de]}
Settings toy() {
  Setting root = Setting::map();
  Setting train = Setting::map("toy.yaml:1");
  train.at("lr") = Setting::scalar("1e-3", "toy.yaml:2");
  train.at("epochs") = Setting::scalar("20", "toy.yaml:3");
  root.at("train") = train;
  Setting model = Setting::map("toy.yaml:4");
  model.at("attention") = Setting::scalar("additive + softmax", "toy.yaml:5");
  root.at("model") = model;
  Setting data = Setting::map("toy.yaml:6");
  data.at("train") = Setting::list({"a.en", "a.de"}, "toy.yaml:7");
  root.at("data") = data;
  return Settings(root);
}

Settings with(const std::string& path, const std::string& text) {
  Settings settings;
  settings.set(path, text);
  return settings;
}

TEST(Settings, AreReadByWhatTheyMeanToTheReader) {
  const auto settings = toy();
  const auto train = settings.at("train");
  EXPECT_EQ(train.number("lr", 1), 0.001);
  EXPECT_EQ(train.text("lr"), "1e-3");
  EXPECT_EQ(train.integer("epochs", 1), 20);
  EXPECT_EQ(settings.at("data").texts("train"), (std::vector<std::string>{"a.en", "a.de"}));
  EXPECT_EQ(settings.at("model").texts("attention"), std::vector<std::string>{"additive + softmax"});
  EXPECT_TRUE(with("a.b", "Yes").at("a").flag("b"));
  EXPECT_FALSE(with("b", "off").flag("b", true));
  EXPECT_EQ(with("b", "gru").choice("b", {"lstm", "gru"}), "gru");
}

TEST(Settings, HaveDefaults) {
  Settings settings;
  settings.set("null", Setting{});
  const auto absent = settings.at("nothing").at("here");
  EXPECT_EQ(absent.number("lr", 0.5), 0.5);
  EXPECT_EQ(absent.integer("epochs", 3), 3);
  EXPECT_EQ(absent.text("name", "x"), "x");
  EXPECT_EQ(absent.choice("kind", {"lstm", "gru"}), "lstm");
  EXPECT_TRUE(absent.flag("bias", true));
  EXPECT_TRUE(absent.texts("files").empty());
  EXPECT_FALSE(absent.has("lr"));
  EXPECT_FALSE(settings.has("null"));
  EXPECT_EQ(settings.number("null", 7), 7);
  EXPECT_TRUE(toy().at("train").has("lr"));
}

TEST(Settings, RefuseAWrongKindWithItsPathAndPosition) {
  const auto settings = toy();
  EXPECT_EQ(message([&] { settings.at("model").number("attention", 0.001); }),
            "recipe: model.attention is 'additive + softmax', expected a number (for example 0.001) [toy.yaml:5]");
  EXPECT_EQ(message([&] { settings.at("data").integer("train", 3); }),
            "recipe: data.train is a list, expected a whole number (for example 3) [toy.yaml:7]");
  EXPECT_EQ(message([&] { settings.text("train"); }), "recipe: train is a map, expected a text [toy.yaml:1]");
  EXPECT_EQ(message([&] { settings.texts("train"); }),
            "recipe: train is a map, expected a text or a list of texts [toy.yaml:1]");
  EXPECT_EQ(message([&] { settings.at("train").at("lr"); }),
            "recipe: train.lr is '1e-3', expected a map of settings [toy.yaml:2]");
  EXPECT_EQ(message([&] { settings.at("data").at("train"); }),
            "recipe: data.train is a list, expected a map of settings [toy.yaml:7]");
  EXPECT_EQ(message([&] { with("a.b", "2.5").at("a").integer("b", 1); }),
            "recipe: a.b is '2.5', expected a whole number (for example 1)");
  EXPECT_EQ(message([&] { with("b", "maybe").flag("b"); }), "recipe: b is 'maybe', expected true or false");
  EXPECT_EQ(message([&] { with("b", ".inf").number("b", 1); }),
            "recipe: b is '.inf', expected a number (for example 1)");
  EXPECT_EQ(with("b", ".inf").number("b", -INFINITY), INFINITY);
}

TEST(Settings, RefuseAWrongItemOfAList) {
  Settings settings;
  Setting list = Setting::list({"a"});
  list.items.emplace_back();
  settings.set("files", list);
  EXPECT_EQ(message([&] { settings.texts("files"); }),
            "recipe: files has nothing in its place 2, expected a text or a list of texts");
}

TEST(Settings, RefuseWhatIsOutOfRange) {
  const auto number = [](const std::string& text, double min, double max) {
    return message([&] { with("train.dropout", text).at("train").number("dropout", 0.1, min, max); });
  };
  const double inf = Settings::kInfinity;
  EXPECT_EQ(number("1", 0, 1), "nothing was refused");
  EXPECT_EQ(number("1.5", 0, 1), "recipe: train.dropout is 1.5, expected 0 <= dropout <= 1");
  EXPECT_EQ(number("1", 0, below(1)), "recipe: train.dropout is 1, expected 0 <= dropout < 1");
  EXPECT_EQ(number("0", above(0), inf), "recipe: train.dropout is 0, expected dropout > 0");
  EXPECT_EQ(number("0", above(0), 0.5), "recipe: train.dropout is 0, expected 0 < dropout <= 0.5");
  EXPECT_EQ(number("-1", 0, inf), "recipe: train.dropout is -1, expected dropout >= 0");
  EXPECT_EQ(number("4", -inf, 3), "recipe: train.dropout is 4, expected dropout <= 3");
  const auto integer = [](const std::string& text, int64_t min, int64_t max) {
    return message([&] { with("heads", text).integer("heads", 1, min, max); });
  };
  EXPECT_EQ(integer("0", 1, Settings::kMax), "recipe: heads is 0, expected heads >= 1");
  EXPECT_EQ(integer("9", 1, 8), "recipe: heads is 9, expected 1 <= heads <= 8");
  EXPECT_EQ(integer("9", Settings::kMin, 8), "recipe: heads is 9, expected heads <= 8");
}

TEST(Settings, ShowValuesInPartAndWithoutTerminalEscapes) {
  const std::string text = "\x1b[2J" + std::string(100'000, 'x');
  const std::vector<std::function<void()>> reads{
      [&] { with("a", text).number("a", 1); }, [&] { with("a", text).integer("a", 1); },
      [&] { with("a", text).flag("a"); },      [&] { with("a", text).choice("a", {"b", "c"}); },
      [&] { with("a", text).at("a"); },        [&] { with(text, "a").refuse_unread(); }};
  for (const auto& read : reads) {
    EXPECT_NE(message(read).find("\\x1b[2Jxxx"), std::string::npos) << message(read);
    EXPECT_LT(message(read).size(), 300U);
  }
}

TEST(Settings, SuggestTheNearestChoice) {
  EXPECT_EQ(message([] {
              with("train.optimizer", "adm").at("train").choice("optimizer", {"adam", "sgd"});
            }),
            "recipe: train.optimizer is 'adm', expected one of adam, sgd (did you mean 'adam'?)");
}

TEST(Settings, LetAPartComplainAboutAValue) {
  EXPECT_EQ(message([] { toy().at("train").refuse("epochs", "is ", 20, ", expected an odd number"); }),
            "recipe: train.epochs is 20, expected an odd number [toy.yaml:3]");
  EXPECT_EQ(message([] { toy().at("train").refuse("seed", "is missing"); }), "recipe: train.seed is missing");
  EXPECT_EQ(toy().at("train").origin("lr"), "toy.yaml:2");
}

TEST(ShortForm, IsAMapWithOneKey) {
  const auto settings = toy();
  EXPECT_EQ(settings.at("model").at("attention", "words").text("words"), "additive + softmax");
  EXPECT_EQ(settings.at("model").at("attention", "words").origin("words"), "toy.yaml:5");
  EXPECT_EQ(settings.at("data").at("train", "files").texts("files").size(), 2U);
  EXPECT_EQ(toy().at("model").at("features", "kind").text("kind", "recurrent"), "recurrent");
}

TEST(ShortForm, MayBeAddedTo) {
  auto settings = toy();
  settings.set("model.attention.score", "general");
  const auto attention = settings.at("model").at("attention", "words");
  EXPECT_EQ(attention.text("words"), "additive + softmax");
  EXPECT_EQ(attention.text("score"), "general");
}

TEST(ShortForm, GivesWayToWhatIsSetByItsName) {
  auto settings = toy();
  settings.set("model.attention.words", "dot + softmax");
  EXPECT_EQ(settings.at("model").at("attention", "words").text("words"), "dot + softmax");
  settings.at("train").has("lr"), settings.at("train").has("epochs"), settings.at("data").has("train");
  settings.refuse_unread();
}

TEST(ShortForm, IsRefusedWhereThereIsNone) {
  auto settings = toy();
  settings.set("model.attention.score", "general");
  EXPECT_EQ(message([&] { settings.at("model").at("attention"); }),
            "recipe: model.attention is 'additive + softmax', expected a map of settings [toy.yaml:5]");
}

TEST(Override, ReplacesMakesMapsAndTakesBack) {
  auto settings = toy();
  settings.set("train.lr", Setting::scalar("0.5", "command line"));
  settings.set("run.dir", "runs/toy");
  settings.set("train.epochs", Setting{});
  settings.set("model.attention", Setting::scalar("dot + softmax"));
  EXPECT_EQ(settings.at("train").number("lr", 1), 0.5);
  EXPECT_EQ(settings.at("train").origin("lr"), "command line");
  EXPECT_EQ(settings.at("run").text("dir"), "runs/toy");
  EXPECT_EQ(settings.at("train").integer("epochs", 7), 7);
  EXPECT_EQ(settings.at("model").text("attention"), "dot + softmax");
}

TEST(Override, IsSeenByEveryView) {
  auto settings = toy();
  const auto train = settings.at("train"), nowhere = settings.at("nowhere");
  settings.set("train.lr", "2");
  settings.set("nowhere.x", "3");
  EXPECT_EQ(train.number("lr", 1), 2);
  EXPECT_EQ(nowhere.number("x", 1), 3);
}

TEST(Override, RefusesAPathThatLeadsNowhere) {
  auto settings = toy();
  EXPECT_EQ(message([&] { settings.set("train..lr", "1"); }),
            "recipe: the key 'train..lr' has an empty piece, expected one such as train.lr");
  EXPECT_EQ(message([&] { settings.set("data.train.0", Setting::scalar("b.en", "command line")); }),
            "recipe: data.train is a list [toy.yaml:7], so there is no data.train.0; give it as a whole, "
            "data.train=[a, b] [command line]");
}

TEST(Unread, IsRefusedWithWhatWasProbablyMeant) {
  const auto ask = [](const Settings& settings) {
    return message([&] {
      const auto train = settings.at("train");
      train.number("lr", 0.001);
      train.integer("epochs", 10);
      train.number("label_smoothing", 0);
      settings.at("model").at("attention", "words").text("words");
      settings.at("data").texts("train");
      settings.refuse_unread();
    });
  };
  const auto unknown = [&](const std::string& path) {
    auto settings = toy();
    settings.set(path, Setting::scalar("1", "command line"));
    return ask(settings);
  };
  const std::string known = "; known here: lr, epochs, label_smoothing [command line]";
  EXPECT_EQ(ask(toy()), "nothing was refused");
  EXPECT_EQ(unknown("train.learning_rate"), "recipe: unknown key train.learning_rate (did you mean train.lr?)" + known);
  EXPECT_EQ(unknown("train.epoch"), "recipe: unknown key train.epoch (did you mean train.epochs?)" + known);
  EXPECT_EQ(unknown("train.smoothing"),
            "recipe: got train.smoothing, expected train.label_smoothing: the key has a new name [command line]");
  EXPECT_EQ(unknown("train.words"), "recipe: unknown key train.words (did you mean model.attention.words?)" + known);
  EXPECT_EQ(unknown("train.zebra"), "recipe: unknown key train.zebra" + known);
  EXPECT_EQ(unknown("trian.lr"),
            "recipe: unknown key trian (did you mean train?); known here: train, model, data [command line]");
  EXPECT_EQ(unknown("model.attention.wrods"),
            "recipe: unknown key model.attention.wrods (did you mean model.attention.words?); known here: words "
            "[command line]");
}

TEST(Unread, IsRefusedAllAtOnce) {
  const auto settings = toy();
  settings.at("train").number("lr", 1);
  settings.at("data");
  EXPECT_EQ(message([&] { settings.at("train").refuse_unread(); }),
            "recipe: unknown key train.epochs; known here: lr [toy.yaml:3]\n"
            "recipe: unknown key model; known here: train, data [toy.yaml:4]\n"
            "recipe: unknown key data.train; none is known here [toy.yaml:7]");
}

TEST(Unread, CountsHasAsReading) {
  const auto settings = with("a", "1");
  EXPECT_TRUE(settings.has("a"));
  settings.refuse_unread();
}

TEST(Keys, MayNotBeRepeatedBeEmptyOrHaveDots) {
  const auto build = [](const std::vector<std::string>& names) {
    Setting map = Setting::map();
    map.names = names;
    for (size_t i = 0; i < names.size(); ++i)
      map.items.push_back(Setting::scalar(std::to_string(i), "toy.yaml:" + std::to_string(i + 1)));
    Setting root = Setting::map();
    root.at("train") = map;
    return message([&] { Settings made(root); });
  };
  EXPECT_EQ(build({"lr", "epochs", "lr"}),
            "recipe: train.lr is given twice, as '0' [toy.yaml:1] and as '2' [toy.yaml:3]");
  EXPECT_EQ(build({""}), "recipe: train has an empty key [toy.yaml:1]");
  EXPECT_EQ(build({"adam.beta"}),
            "recipe: the key 'adam.beta' has a dot, expected 'adam:' with 'beta:' below it [toy.yaml:1]");
  EXPECT_EQ(message([] { Settings made(Setting::scalar("hello", "toy.yaml:1")); }),
            "recipe: got 'hello', expected keys and values [toy.yaml:1]");
}

TEST(Resolved, HasTheKeysThatWereReadInThatOrder) {
  const auto settings = toy();
  settings.at("run").text("dir", "runs/toy");
  settings.at("model").at("attention", "words").text("words");
  settings.at("train").integer("seed", 1);
  settings.at("train").number("lr", 1);
  settings.at("train").flag("shuffle", true);
  settings.at("train").text("note", "");
  settings.at("data").texts("train");
  settings.at("data").has("nothing");
  settings.at("empty");

  Setting expected = Setting::map();
  expected.at("run") = Setting::map();
  expected.at("run").at("dir") = Setting::scalar("runs/toy");
  expected.at("model") = Setting::map();
  expected.at("model").at("attention") = Setting::map();
  expected.at("model").at("attention").at("words") = Setting::scalar("additive + softmax");
  expected.at("train") = Setting::map();
  expected.at("train").at("seed") = Setting::scalar("1");
  expected.at("train").at("lr") = Setting::scalar("0.001");
  expected.at("train").at("shuffle") = Setting::scalar("true");
  expected.at("train").at("note") = Setting::scalar("");
  expected.at("data") = Setting::map();
  expected.at("data").at("train") = Setting::list({"a.en", "a.de"});
  EXPECT_EQ(settings.resolved().written(), expected);
  EXPECT_EQ(settings.at("train").resolved().written(), *expected.find("train"));
}

TEST(Resolved, TakesTheLastReadInThePositionOfTheFirst) {
  const auto settings = toy();
  settings.at("train").has("lr");
  settings.at("train").integer("epochs", 1);
  settings.at("train").number("lr", 1);
  settings.at("train").has("epochs");
  const auto train = settings.at("train").resolved().written();
  EXPECT_EQ(train.names, (std::vector<std::string>{"lr", "epochs"}));
  EXPECT_EQ(train.items[0].text, "0.001");
  EXPECT_EQ(settings.known()[1].kind, "number");
  EXPECT_EQ(settings.known()[2].kind, "whole number");
}

TEST(Resolved, QuotesTextsThatLookLikeSomethingElse) {
  const auto settings = with("separator", "null");
  settings.text("separator");
  settings.text("name", "yes");
  settings.number("lr", 1);
  const auto written = settings.resolved().written();
  EXPECT_TRUE(written.find("separator")->quoted);
  EXPECT_TRUE(written.find("name")->quoted);
  EXPECT_FALSE(written.find("lr")->quoted);
}

}  // namespace
}  // namespace heed
