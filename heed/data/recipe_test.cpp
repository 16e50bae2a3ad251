// Valid and invalid recipes.

#include "heed/data/recipe.h"

#include <cstdio>
#include <functional>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr const char* kToy = R"(# a toy
model:
  attention: additive + softmax   # short
  features: {kind: recurrent, dim: 64}
train:
  lr: 1e-3
  shuffle: yes
  note: ~
  seed:
data:
  root: "../数据"
  train: [a.en, 'a b.de']
)";

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return refusal([&] { parse_recipe(yaml, "toy.yaml", overrides); });
}

TEST(Recipe, IsATreeOfSettings) {
  const auto recipe = parse_recipe(kToy, "toy.yaml");
  EXPECT_EQ(recipe.at("model").at("attention", "mechanism").text("mechanism"), "additive + softmax");
  EXPECT_EQ(recipe.at("model").at("features", "kind").text("kind"), "recurrent");
  EXPECT_EQ(recipe.at("model").at("features").integer("dim", 0), 64);
  EXPECT_EQ(recipe.at("train").number("lr", 0), 0.001);
  EXPECT_TRUE(recipe.at("train").flag("shuffle"));
  EXPECT_EQ(recipe.at("train").text("note", "none"), "none");
  EXPECT_EQ(recipe.at("train").integer("seed", 7), 7);
  EXPECT_EQ(recipe.at("data").text("root"), "../数据");
  EXPECT_EQ(recipe.at("data").texts("train"), (std::vector<std::string>{"a.en", "a b.de"}));
  recipe.refuse_unread();
}

TEST(Recipe, KnowsItsLines) {
  const auto recipe = parse_recipe(kToy, "toy.yaml");
  EXPECT_EQ(recipe.at("train").origin("lr"), "toy.yaml:6");
  EXPECT_EQ(recipe.at("model").at("features").origin("dim"), "toy.yaml:4");
  EXPECT_EQ(refusal([&] { recipe.at("train").integer("lr", 3); }),
            "recipe: train.lr is '1e-3', expected a whole number (for example 3) [toy.yaml:6]");
}

TEST(Recipe, TakesTextsInQuotesAsTexts) {
  const auto recipe = parse_recipe("a: 'null'\nb: \"\"\nc: '~'", "toy.yaml");
  EXPECT_EQ(recipe.text("a", "x"), "null");
  EXPECT_EQ(recipe.text("b", "x"), "");
  EXPECT_EQ(recipe.text("c", "x"), "~");
}

TEST(Recipe, FollowsAnchorsAndMergesMaps) {
  const auto recipe = parse_recipe(
      "base: &base {lr: 1, max_epochs: 2}\n"
      "more: &more {lr: 7, seed: 5}\n"
      "same: *base\n"
      "train:\n"
      "  lr: 3\n"
      "  <<: [*base, *more]\n",
      "toy.yaml");
  EXPECT_EQ(recipe.at("same").integer("max_epochs", 0), 2);
  EXPECT_EQ(recipe.at("train").integer("lr", 0), 3);
  EXPECT_EQ(recipe.at("train").integer("max_epochs", 0), 2);
  EXPECT_EQ(recipe.at("train").integer("seed", 0), 5);
  EXPECT_EQ(refusal("a:\n  <<: 3"), "recipe: << has no map, expected one such as <<: *defaults [toy.yaml:2]");
}

TEST(Recipe, IsRefusedWhenItIsInvalid) {
  EXPECT_EQ(refusal(""), "recipe: toy.yaml is empty, expected keys and values such as\ntrain:\n  lr: 0.001");
  EXPECT_EQ(refusal("# only a comment\n"), refusal(""));
  EXPECT_EQ(refusal("- a\n- b\n"), "recipe: got a list, expected keys and values [toy.yaml:1]");
  EXPECT_EQ(refusal("hello"), "recipe: got 'hello', expected keys and values [toy.yaml:1]");
  EXPECT_EQ(refusal("a: 1\nb: [c\n"), "recipe: toy.yaml:3:1: not YAML: end of sequence flow not found");
  EXPECT_EQ(refusal("a: 1\nb: c: d\n"), "recipe: toy.yaml:2:5: not YAML: illegal map value");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"),
            "recipe: toy.yaml:2:1: not YAML: got text before or after the document, expected one document");
  EXPECT_EQ(refusal(", a: 1"),
            "recipe: toy.yaml:1:1: not YAML: got text before or after the document, expected one document");
  EXPECT_EQ(refusal("a: 1\nb: \xff\n"), "recipe: toy.yaml:2: not UTF-8, expected a YAML file");
  EXPECT_EQ(refusal("train:\n  lr: 1\n  max_epochs: 3\n  lr: 2\n"),
            "recipe: train.lr is given twice, as '1' [toy.yaml:2] and as '2' [toy.yaml:4]");
  EXPECT_EQ(refusal("train.lr: 1\n"),
            "recipe: the key 'train.lr' has a dot, expected 'train:' with 'lr:' below it [toy.yaml:1]");
  EXPECT_EQ(refusal("? [a, b]\n: 1\n"), "recipe: a key is a list or a map, expected a word [toy.yaml:1]");
}

TEST(Recipe, IsRefusedWhereAQuoteIsNotClosed) {
  const std::string said = "illegal EOF in scalar; a quote is opened and never closed";
  for (const char* text : {"a: 'b", "a: 'b\n", "a: \"b\nc: 1\n\n# end\n", "a:\n  b: 'x\n  c: y\n"})
    EXPECT_NE(refusal(text).find(said), std::string::npos) << text << refusal(text);
  EXPECT_EQ(parse_recipe("a: |\n  'b\n", "toy.yaml").text("a"), "'b\n");  // a block scalar that contains a quote
}

TEST(Recipe, IsRefusedWhenAliasesMakeItInfinite) {
  EXPECT_EQ(refusal("a: &a [*a]\n"), "recipe: more than 50 levels, or an alias inside its own anchor [toy.yaml:1]");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    bomb.append(name).append(": &").append(name).append(" [").append(before);
    for (int j = 1; j < 10; ++j) bomb.append(", ").append(before);
    bomb += "]\n";
  }
  EXPECT_NE(refusal(bomb).find("recipe: more than 100000 values"), std::string::npos);
  EXPECT_NE(refusal(std::string(100000, '[')).find("recipe: toy.yaml:"), std::string::npos);
}

TEST(Recipe, IsReadFromAFile) {
  const std::string path = testing::TempDir() + "heed_recipe_" + std::to_string(::getpid()) + ".yaml";
  FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(kToy, file);
  std::fclose(file);
  const auto recipe = read_recipe(path, {"train.lr=2"});
  EXPECT_EQ(recipe.at("train").number("lr", 0), 2);
  EXPECT_EQ(recipe.at("data").origin("root"), path + ":11");
  std::remove(path.c_str());
  EXPECT_EQ(refusal([&] { read_recipe(path); }),
            "recipe: " + path + " cannot be read: No such file or directory; expected a YAML file");
  EXPECT_EQ(refusal([&] { read_recipe(testing::TempDir()); }),
            "recipe: " + testing::TempDir() + " cannot be read: Is a directory; expected a YAML file");
}

TEST(RecipeOverride, ChangesOneValue) {
  const auto recipe = parse_recipe(kToy, "toy.yaml",
                                   {"train.lr=5e-4", "data.train=[b.en,b.de]", "run.dir=runs/x=1",
                                    "model.attention.score=general", "train.shuffle=null", "data.separator=|||",
                                    "data.mark=,", "model.decoder={kind: recurrent, dim: 3}", "data.note='[a'"});
  EXPECT_EQ(recipe.at("train").number("lr", 0), 5e-4);
  EXPECT_EQ(recipe.at("train").origin("lr"), "command line");
  EXPECT_EQ(recipe.at("data").texts("train"), (std::vector<std::string>{"b.en", "b.de"}));
  EXPECT_EQ(recipe.at("run").text("dir"), "runs/x=1");
  EXPECT_EQ(recipe.at("model").at("attention", "mechanism").text("mechanism"), "additive + softmax");
  EXPECT_EQ(recipe.at("model").at("attention", "mechanism").text("score"), "general");
  EXPECT_FALSE(recipe.at("train").flag("shuffle", false));
  EXPECT_EQ(recipe.at("data").text("separator"), "|||");
  EXPECT_EQ(recipe.at("data").text("mark"), ",");
  EXPECT_EQ(recipe.at("model").at("decoder").integer("dim", 0), 3);
  EXPECT_EQ(recipe.at("data").text("note"), "[a");
}

TEST(RecipeOverride, IsRefusedWithoutAValue) {
  EXPECT_EQ(
      refusal(kToy, {"train.lr="}),
      "recipe: got 'train.lr=' without a value, expected train.lr=value; null takes the default, '\"\"' is an empty "
      "text");
  EXPECT_NE(refusal(kToy, {"train.lr= "}).find("without a value"), std::string::npos);
  EXPECT_EQ(parse_recipe(kToy, "toy.yaml", {"train.lr=~"}).at("train").number("lr", 7), 7);
  EXPECT_EQ(parse_recipe(kToy, "toy.yaml", {"data.note=\"\""}).at("data").text("note", "x"), "");
}

TEST(RecipeOverride, TakesPlainScalarsVerbatimIncludingHashSigns) {
  const auto value = [](const std::string& text) {
    return parse_recipe(kToy, "toy.yaml", {"run.dir=" + text}).at("run").text("dir");
  };
  EXPECT_EQ(value("exp #2"), "exp #2");
  EXPECT_EQ(value("#2"), "#2");
  EXPECT_EQ(value("|"), "|");
  EXPECT_EQ(value("'exp #2'"), "exp #2");
  EXPECT_EQ(value("a'b"), "a'b");
}

TEST(RecipeOverride, IsShownInPartAndEscaped) {
  const std::string message = refusal(kToy, {"\x1b[31m" + std::string(1000, 'x')});
  EXPECT_NE(message.find("'\\x1b[31mxxx"), std::string::npos) << message;
  EXPECT_LT(message.size(), 300U);
}

TEST(RecipeOverride, IsRefusedWhenItIsInvalid) {
  EXPECT_EQ(refusal(kToy, {"train.lr"}), "recipe: got 'train.lr', expected key.path=value, for example train.lr=0.001");
  EXPECT_EQ(refusal(kToy, {"=3"}), "recipe: got '=3', expected key.path=value, for example train.lr=0.001");
  EXPECT_EQ(refusal(kToy, {"data.train=[a"}),
            "recipe: the value of 'data.train=[a' is not YAML: end of sequence flow not found, expected for example "
            "data.train=[a.en,a.de]");
  EXPECT_NE(refusal(kToy, {"data.train=[a] b"}).find("is not YAML"), std::string::npos);
  EXPECT_EQ(refusal([] {
              const auto recipe = parse_recipe("train: {lr: 1}", "toy.yaml", {"train.learning_rate=3"});
              recipe.at("train").number("lr", 1);
              recipe.refuse_unread();
            }),
            "recipe: unknown key train.learning_rate (did you mean train.lr?); known here: lr [command line]");
}

TEST(RecipeYaml, ReadsBackEqual) {
  const auto recipe =
      parse_recipe(kToy, "toy.yaml",
                   {"data.separator=|||", "data.name='yes'", "data.odd='a: b # c'", R"(data.lines="x\ny\tz")",
                    "data.empty=[]", R"(data.files=['1', ~x, 'a, b', "it's"])", "data.utf='汤姆 é'", "data.dash='- x'",
                    "data.blank=' '", "data.at=@x"});
  recipe.at("model").at("attention", "mechanism").text("mechanism");
  const auto data = recipe.at("data");
  for (const char* key : {"separator", "name", "odd", "lines", "root", "utf", "dash", "blank", "at"}) data.text(key);
  data.texts("empty"), data.texts("files"), data.texts("train");
  recipe.at("train").number("tiny", 1e-9);
  recipe.at("train").text("nothing", "");
  const auto resolved = recipe.resolved();
  const auto back = parse_recipe(recipe_yaml(resolved), "resolved.yaml");
  EXPECT_EQ(back.written(), resolved.written()) << recipe_yaml(resolved);
  EXPECT_EQ(back.at("data").text("separator"), "|||");
  EXPECT_EQ(back.at("data").text("lines"), "x\ny\tz");
}

TEST(RecipeYaml, IsFormattedAsAPersonWouldWriteIt) {
  const auto recipe = parse_recipe(kToy, "toy.yaml");
  recipe.at("model").at("attention", "mechanism").text("mechanism");
  recipe.at("train").number("lr", 1);
  recipe.at("train").flag("shuffle");
  recipe.at("train").text("name", "yes");
  recipe.at("data").texts("train");
  EXPECT_EQ(recipe_yaml(recipe.resolved()),
            "model:\n"
            "  attention:\n"
            "    mechanism: additive + softmax\n"
            "train:\n"
            "  lr: 0.001\n"
            "  shuffle: true\n"
            "  name: \"yes\"\n"
            "data:\n"
            "  train: [a.en, a b.de]\n");
}

TEST(RecipeYaml, OfNothingIsAnEmptyMap) {
  EXPECT_EQ(recipe_yaml(Settings()), "{}\n");
  EXPECT_EQ(parse_recipe("{}", "toy.yaml").written(), Settings().written());
}

}  // namespace
}  // namespace heed
