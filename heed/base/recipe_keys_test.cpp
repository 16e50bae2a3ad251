#include "heed/base/recipe_keys.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

struct Values {
  int64_t dim = 8;
  double dropout = 0.25;
  bool tied = true;
  std::string cell = "gru", device = "auto";
  std::vector<std::string> files;
};

const RecipeTable<Values> table{{"dim", &Values::dim, "width", {.min = 1, .max = 64}},
                                {"dropout", &Values::dropout, "dropout", {.min = 0, .max = below(1)}},
                                {"tied", &Values::tied, "tied"},
                                {"cell", &Values::cell, "cell", {.choices = {"gru", "lstm"}}},
                                {"device", &Values::device, "device"},
                                {"files", &Values::files, "files", {.default_text = "required"}}};

Settings settings_of(const std::vector<std::pair<std::string, std::string>>& given) {
  Settings settings;
  for (const auto& [path, text] : given) settings.set(path, text);
  return settings;
}

std::string refusal_of(const std::vector<std::pair<std::string, std::string>>& given) {
  try {
    const Settings settings = settings_of(given);
    table.read(settings);
    settings.refuse_unread();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(RecipeTable, ReadsEachKindOfKeyIntoItsField) {
  const Values v = table.read(settings_of(
      {{"dim", "16"}, {"dropout", "0.5"}, {"tied", "no"}, {"cell", "lstm"}, {"device", "cpu"}, {"files", "a"}}));
  EXPECT_EQ(v.dim, 16);
  EXPECT_EQ(v.dropout, 0.5);
  EXPECT_FALSE(v.tied);
  EXPECT_EQ(v.cell + v.device, "lstmcpu");
  EXPECT_EQ(v.files, (std::vector<std::string>{"a"}));
}

TEST(RecipeTable, TakesDefaultsFromTheStructOrTheCaller) {
  EXPECT_EQ(table.read({}).dim, 8);
  Values defaults;
  defaults.dim = 9;
  defaults.cell = "lstm";
  EXPECT_EQ(table.read({}, defaults).dim, 9);
  EXPECT_EQ(table.read({}, defaults).cell, "lstm");
  EXPECT_EQ(table.read(settings_of({{"cell", "gru"}}), defaults).cell, "gru");
}

TEST(RecipeTable, RefusesWhatItsDeclarationExcludes) {
  EXPECT_EQ(refusal_of({{"dim", "65"}}), "recipe: dim is 65, expected 1 <= dim <= 64");
  EXPECT_EQ(refusal_of({{"dim", "wide"}}), "recipe: dim is 'wide', expected a whole number (for example 8)");
  EXPECT_EQ(refusal_of({{"dropout", "1"}}), "recipe: dropout is 1, expected 0 <= dropout < 1");
  EXPECT_EQ(refusal_of({{"cell", "gur"}}), "recipe: cell is 'gur', expected one of gru, lstm (did you mean 'gru'?)");
  EXPECT_EQ(refusal_of({{"dims", "8"}}),
            "recipe: unknown key dims (did you mean dim?); known here: dim, dropout, tied, cell, device, files");
}

TEST(RecipeTable, ListsItself) {
  const RecipeKeyList keys = table.list();
  ASSERT_EQ(keys.size(), 6U);
  EXPECT_EQ(keys[0], (RecipeKey{"dim", "whole number", "8", "1 <= dim <= 64", "width"}));
  EXPECT_EQ(keys[1], (RecipeKey{"dropout", "number", "0.25", "0 <= dropout < 1", "dropout"}));
  EXPECT_EQ(keys[2], (RecipeKey{"tied", "true | false", "true", "", "tied"}));
  EXPECT_EQ(keys[3], (RecipeKey{"cell", "gru | lstm", "gru", "", "cell"}));
  EXPECT_EQ(keys[4], (RecipeKey{"device", "text", "auto", "", "device"}));
  EXPECT_EQ(keys[5], (RecipeKey{"files", "text or list of texts", "required", "", "files"}));
  Values lstm;
  lstm.cell = "lstm";
  EXPECT_EQ(table.list(lstm)[3].kind, "lstm | gru");
}

TEST(RecipeSection, JoinsTheEntriesOfAPathInOrder) {
  const RecipeSection::Entry second{{"test", 902, "",
                                     [] {
                                       return RecipeKeyList{{"b", "text", "", "", "b"}};
                                     }}},
      first{{"test", 901, "A test.", [] {
               return RecipeKeyList{{"a", "text", "", "", "a"}};
             }}};
  const auto all = RecipeSection::all();
  ASSERT_EQ(all.back().path, "test");
  EXPECT_EQ(all.back().sentence, "A test.");
  ASSERT_EQ(all.back().keys.size(), 2U);
  EXPECT_EQ(all.back().keys[0].name + all.back().keys[1].name, "ab");
}

TEST(RecipeSection, ListsTheKeysOfATaskApart) {
  const auto keys = [] { return RecipeKeyList{{"a", "text", "", "", "a"}}; };
  const RecipeSection::Entry all{{"tasks", 903, "All tasks.", keys}}, one{{"tasks", 904, "One.", keys, "sing"}};
  const auto listed = RecipeSection::all();
  ASSERT_GE(listed.size(), 2U);
  EXPECT_EQ(listed[listed.size() - 2].task, "");
  EXPECT_EQ(listed.back().path, "tasks");
  EXPECT_EQ(listed.back().task, "sing");
  EXPECT_EQ(listed.back().sentence, "One.");
  EXPECT_EQ(listed.back().keys.size(), 1U);
}

}  // namespace
}  // namespace heed
