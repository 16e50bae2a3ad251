#include "apps/cli/list.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/attention/mechanism.h"

namespace heed::cli {
namespace {

std::string listed(const std::vector<Card>& some, ListForm form) {
  std::ostringstream out;
  print_list(out, some, form);
  return out.str();
}

TEST(List, HasEveryPartOfTheCatalogue) {
  for (const auto form : {ListForm::text, ListForm::json, ListForm::markdown}) {
    const auto all = listed(cards(), form);
    for (const auto& name : Catalogue<Score>::names()) EXPECT_NE(all.find(name), std::string::npos) << name;
    for (const auto& name : Catalogue<Alignment>::names()) EXPECT_NE(all.find(name), std::string::npos) << name;
  }
}

TEST(List, DescribesEveryPart) {
  for (const auto& card : cards()) {
    EXPECT_FALSE(card.formula.empty() || card.choose.empty() || card.cost.empty() || card.paper.empty()) << card.name;
    EXPECT_EQ(card.kind == "score", !card.dimensionalities.empty()) << card.name;
  }
}

TEST(List, NamesDimensionalitiesAsMechanismsDo) {
  for (const auto& card : cards())
    if (card.kind == "dimensionality") {
      const std::string score = card.name == "multi(lift)" ? "dot" : "additive";
      EXPECT_EQ(to_string(Mechanism::parse(score + " + softmax, " + card.name).dimensionality()), card.name);
    }
}

std::string shapes(const std::string& part) {
  std::string all;
  const auto card = cards(part).at(0);
  for (const auto& parameter : card.parameters) all += parameter.name + " [" + joined(parameter.shape) + "] ";
  return all;
}

TEST(List, WritesShapesInSymbols) {
  EXPECT_EQ(shapes("additive"), "from_query [Dh, Dq] from_keys [Dh, Dk] bias [Dh] to_scores [1, Dh] ");
  EXPECT_EQ(shapes("concat"), "from_both [Dh, Dq + Dk] to_scores [1, Dh] ");
  EXPECT_EQ(shapes("reinforced").substr(0, 21), "from_keys [Dh, 3 Dk] ");
  EXPECT_EQ(shapes("location"), "from_query [most, Dq] ");
  EXPECT_EQ(shapes("dot"), "");
}

TEST(List, KnowsTheOptionsOfAPart) {
  const auto options = cards("local_p").at(0).options;
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].name, "window");
  EXPECT_EQ(options[1].kind, "plain | renorm | score_gauss");
}

TEST(List, FindsAPartWithItsOptionsAfterIt) {
  EXPECT_EQ(cards("entmax(1.5)").at(0).name, "entmax");
  EXPECT_EQ(cards("multi(lift)").at(0).name, "multi(lift)");
}

TEST(List, SuggestsTheNearestName) {
  try {
    cards("addtive");
    FAIL() << "a name that does not exist was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("list: no part called 'addtive' (did you mean 'additive'?)"),
              std::string::npos)
        << error.what();
  }
}

TEST(List, WritesJson) {
  const auto all = nlohmann::json::parse(listed(cards("additive"), ListForm::json));
  EXPECT_EQ(all[0]["name"], "additive");
  EXPECT_EQ(all[0]["parameters"][0]["shape"][1], "Dq");
  EXPECT_EQ(all[0]["options"][0]["default"], "tanh");
}

TEST(List, IsWhatTheDocumentationSays) {
  std::ifstream file("docs/catalogue.md");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(committed.str(), listed(cards(), ListForm::markdown))
      << "docs/catalogue.md is stale; refresh it with: heed list --markdown > docs/catalogue.md";
}

}  // namespace
}  // namespace heed::cli
