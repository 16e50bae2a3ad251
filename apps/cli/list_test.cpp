#include "apps/cli/list.h"

#include <fstream>
#include <set>
#include <sstream>

#include "apps/cli/list_catalogue.h"
#include "apps/cli/screen.h"
#include "apps/cli/torch/list_cards.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/score.h"
#include "heed/models/components.h"
#include "heed/structures/preset.h"

namespace heed::cli {
namespace {

const std::vector<Card>& every_card() {
  static const auto all = collect_cards();
  return all;
}

FoundCards found(const std::string& name) {
  return find_cards(every_card(), name);
}

/// "score/general, query model/luong"
std::string names_of(const FoundCards& cards) {
  std::vector<std::string> all;
  for (const auto& card : cards.cards) all.push_back(card.kind + "/" + card.name);
  return joined(all);
}

template <typename... With>
std::string printed(void (*print)(std::ostream&, const std::vector<Card>&, With...), const std::vector<Card>& cards,
                    With... with) {
  std::ostringstream out;
  print(out, cards, with...);
  return out.str();
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST(List, HasEveryPartOfTheCatalogue) {
  const auto has = [](const std::string& kind, const std::vector<std::string>& names) {
    for (const auto& name : names)
      EXPECT_TRUE(std::any_of(every_card().begin(), every_card().end(),
                              [&](const Card& card) { return card.kind == kind && card.name == name; }))
          << kind << ' ' << name;
  };
  has("score", Catalogue<Score>::names());
  has("alignment", Catalogue<Alignment>::names());
  has("structure", Structure::Parts::names());
  has("preset", preset_names());
  has("feature model", FeatureModel::Parts::names());
  has("query model", QueryModel::Parts::names());
  has("attention model", AttentionModel::Parts::names());
  has("output model", OutputModel::Parts::names());
  for (const auto& text : {printed(print_card_table, every_card(), 0), printed(print_cards, every_card()),
                           printed(print_cards_json, every_card()), printed(print_cards_markdown, every_card())})
    for (const auto& card : every_card()) EXPECT_NE(text.find(card.name), std::string::npos) << card.name;
}

TEST(List, DescribesEveryPart) {
  for (const auto& card : every_card()) {
    const bool mechanism = card.kind == "score" || card.kind == "alignment" || card.kind == "structure";
    EXPECT_FALSE(card.formula.empty() || (card.choose.empty() && card.kind != "preset")) << card.name;
    EXPECT_FALSE(mechanism && (card.cost.empty() || card.paper.empty())) << card.name;
    EXPECT_EQ(card.kind == "score", !card.dimensionalities.empty()) << card.name;
  }
}

// A part without an order is listed after the others, so adding a part edits no other part.
TEST(List, GivesEachFamilyAnOrderOfChoiceThatStartsWithOne) {
  for (const auto& family : card_families()) {
    std::set<int> orders;
    for (const auto& card : every_card())
      if (family.has(card) && card.order > 0) {
        EXPECT_TRUE(orders.insert(card.order).second) << family.title << ": two parts have order " << card.order;
      }
    if (family.kind != "preset") {
      ASSERT_FALSE(orders.empty()) << family.title;
      EXPECT_EQ(*orders.begin(), 1) << family.title;
    }
  }
  EXPECT_EQ(every_card().front().name, "scaled_dot");
  EXPECT_EQ(found("alignments").cards.front().name, "softmax");
}

TEST(List, PutsEveryCardIntoOneFamily) {
  for (const auto& card : every_card()) {
    int families = 0;
    for (const auto& family : card_families()) families += family.has(card) ? 1 : 0;
    EXPECT_EQ(families, 1) << card.kind << ' ' << card.name << ' ' << card.axis;
  }
}

// ---- names used in papers ----

TEST(Synonyms, AreUniqueAndDifferFromNamesWithinAKind) {
  std::set<std::pair<std::string, std::string>> names, synonyms;
  for (const auto& card : every_card()) names.emplace(card.kind, card.name);
  for (const auto& card : every_card())
    for (const auto& synonym : card.synonyms) {
      EXPECT_EQ(synonym, catalogue_term(synonym)) << card.name;
      EXPECT_TRUE(synonyms.emplace(card.kind, synonym).second) << synonym;
      EXPECT_EQ(names.count({card.kind, synonym}), 0U) << synonym;
    }
}

TEST(Synonyms, LeadToTheirPart) {
  for (const auto& [term, part] :
       std::vector<std::pair<std::string, std::string>>{{"bilinear", "score/general"},
                                                        {"multiplicative", "score/dot"},
                                                        {"Luong general", "score/general"},
                                                        {"luong_dot", "score/dot"},
                                                        {"concatenate", "score/concat"},
                                                        {"concatenation", "score/concat"},
                                                        {"scaled dot-product attention", "score/scaled_dot"},
                                                        {"location-based", "score/location"},
                                                        {"soft", "alignment/softmax"},
                                                        {"soft attention", "alignment/softmax"},
                                                        {"Global attention", "alignment/softmax"},
                                                        {"hard attention", "alignment/hard"},
                                                        {"local attention", "alignment/local_p"},
                                                        {"monotonic", "alignment/local_m"},
                                                        {"self_attention", "structure/transformer_encoder"},
                                                        {"self-attention", "structure/transformer_encoder"},
                                                        {"cross-attention", "structure/basic"},
                                                        {"multi-head attention", "structure/multi_head"},
                                                        {"co-attention", "structure/parallel"},
                                                        {"HAN", "structure/hierarchical"},
                                                        {"RoPE", "position/rotary"},
                                                        {"multi-dimensional", "dimensionality/multi"}})
    EXPECT_EQ(names_of(found(term)), part) << term;
  EXPECT_EQ(names_of(found("bahdanau")), "query model/bahdanau, score/additive");
}

TEST(Synonyms, NameTheirPartInARemark) {
  EXPECT_EQ(found("bilinear").remarks, (std::vector<std::string>{"bilinear is another name of general (score)"}));
  EXPECT_TRUE(found("general").remarks.empty());
}

TEST(Synonyms, AreRefusedInASpecWithTheNameToUse) {
  const auto refusal = [](const std::string& spec) -> std::string {
    try {
      Mechanism::parse(spec);
      return "nothing was refused";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("bilinear + softmax"),
            "score: got 'bilinear', expected 'general' (bilinear is another name of it)");
  EXPECT_EQ(refusal("dot + soft"), "alignment: got 'soft', expected 'softmax' (soft is another name of it)");
}

// ---- finding parts by name ----

TEST(List, FindsAPartWithOptionsAfterItsName) {
  EXPECT_EQ(names_of(found("entmax(1.5)")), "alignment/entmax");
  EXPECT_EQ(names_of(found("multi(lift)")), "dimensionality/multi(lift)");
}

TEST(List, FindsAllPartsOfOneName) {
  EXPECT_EQ(names_of(found("softmax")), "alignment/softmax, output model/softmax, label output model/softmax");
}

TEST(List, FindsAKind) {
  EXPECT_TRUE(found("scores").family);
  EXPECT_EQ(found("scores").cards.size(), Catalogue<Score>::names().size());
  EXPECT_EQ(found("structure").cards.size(), Structure::Parts::names().size());
  EXPECT_EQ(found("query models").cards.size(), QueryModel::Parts::names().size());
  EXPECT_GT(found("components").cards.size(), found("query models").cards.size());
  EXPECT_FALSE(found("additive").family);
}

TEST(List, SuggestsTheNearestName) {
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      found(name);
      return "a name that does not exist was found";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("addtive"),
            "list: got 'addtive' (did you mean 'additive'?), expected a part, another name of one, or a kind of parts; "
            "heed list shows all of them");
  EXPECT_NE(refusal("bilinaer").find("did you mean 'bilinear'?"), std::string::npos);
  EXPECT_NE(refusal("").find("list: got ''"), std::string::npos);
}

// ---- contents of cards ----

TEST(List, NamesDimensionalitiesAsMechanismsDo) {
  for (const auto& card : found("dimensionalities").cards) {
    const std::string score = card.name == "multi(lift)" ? "dot" : "additive";
    EXPECT_EQ(to_string(Mechanism::parse(score + " + softmax, " + card.name).dimensionality()), card.name);
  }
}

TEST(List, NamesPositionsAsRecipesDo) {
  std::set<std::string> names;
  for (const auto& card : found("positions").cards) names.insert(card.name);
  const auto models = found("feature models").cards;
  for (const auto& key : models.at(1).keys) {
    if (key.name != "positions") continue;
    std::istringstream choices(key.kind);
    for (std::string choice; choices >> choice;) EXPECT_TRUE(choice == "|" || names.count(choice) == 1) << choice;
    return;
  }
  FAIL() << "the transformer has no key positions";
}

std::string shapes(const std::string& part) {
  std::string all;
  const auto cards = found(part).cards;
  for (const auto& parameter : cards.at(0).parameters)
    all += parameter.name + " [" + joined(parameter.shape) + "]" +
           (parameter.with.empty() ? "" : " with " + parameter.with) + "; ";
  return all;
}

TEST(List, WritesShapesInSymbols) {
  EXPECT_EQ(shapes("additive"), "from_query [Dh, Dq]; from_keys [Dh, Dk]; bias [Dh]; to_scores [1, Dh]; ");
  EXPECT_EQ(shapes("concat"), "from_both [Dh, Dq + Dk]; to_scores [1, Dh]; ");
  EXPECT_EQ(shapes("reinforced").substr(0, 22), "from_keys [Dh, 3 Dk]; ");
  EXPECT_EQ(shapes("location"), "from_query [max, Dq]; ");
  EXPECT_EQ(shapes("dot"), "");
}

TEST(List, DocumentsParametersThatOnlyVariantsHave) {
  EXPECT_EQ(shapes("cosine"), "log_sharpness [1] with cosine(2, learned); ");
  EXPECT_NE(shapes("entmax").find("with entmax(1.5, learned)"), std::string::npos) << shapes("entmax");
}

TEST(List, KnowsTheOptionsOfAPart) {
  const auto options = found("local_p").cards.at(0).options;
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].name, "window");
  EXPECT_EQ(options[1].kind, "plain | renorm | score_gauss");
}

TEST(List, KnowsTheRecipeKeysOfAComponentWithoutMakingIt) {
  const Card luong = found("query models").cards.at(1);
  ASSERT_EQ(luong.name, "luong");
  EXPECT_EQ(luong.path, "model.query");
  EXPECT_EQ(luong.keys.at(0),
            (RecipeKey{"state_dim", "whole number", "512", "1 <= state_dim <= 65536", "width of the state"}));
  EXPECT_EQ(luong.keys.at(2), (RecipeKey{"cell", "lstm | gru", "lstm", "", "recurrent cell"}));
  EXPECT_EQ(luong.keys.back().name, "feeding");
  EXPECT_NE(printed(print_cards, found("luong").cards).find("512; 1 <= state_dim <= 65536; width of the state"),
            std::string::npos);
  const auto json = nlohmann::json::parse(printed(print_cards_json, found("luong").cards));
  EXPECT_EQ(json[0]["keys"][0]["name"], "model.query.state_dim");
  EXPECT_EQ(json[0]["keys"][0]["range"], "1 <= state_dim <= 65536");
}

TEST(List, SaysSomethingOnEveryRecipeKeyAndNamesEachOnce) {
  std::set<std::string> paths;
  for (const auto& card : every_card()) {
    for (const auto& key : card.keys) {
      EXPECT_FALSE(key.sentence.empty()) << card.name << ' ' << key.name;
      EXPECT_FALSE(key.kind.empty()) << card.name << ' ' << key.name;
      const std::string owner = (card.kind == "section" ? "" : card.name + ": ") + card.task + " ";
      EXPECT_TRUE(paths.insert(owner + card.path + "." + key.name).second) << card.path << ' ' << key.name;
    }
  }
  for (const std::string path :
       {" .task", " run.dir", "translate data.train", "translate data.joint", " data.split.modulo", " train.lr",
        "translate train.batch_tokens", "translate eval.beam", "translate model.embedding.dim",
        "classify model.embedding.dim", "softmax: translate model.output.tied"})
    EXPECT_EQ(paths.count(path), 1U) << path;
}

TEST(List, WritesJson) {
  const auto all = nlohmann::json::parse(printed(print_cards_json, found("additive").cards));
  EXPECT_EQ(all[0]["name"], "additive");
  EXPECT_EQ(all[0]["parameters"][0]["shape"][1], "Dq");
  EXPECT_EQ(all[0]["options"][0]["default"], "tanh");
  EXPECT_EQ(all[0]["synonyms"][0], "bahdanau");
}

// ---- the table ----

TEST(ListTable, HasOneLineForEachPartAndKeepsToTheTerminal) {
  for (const int columns : {40, 60, 80, 100, 160})
    for (const auto& line : lines_in(printed(print_card_table, every_card(), columns))) {
      if (line.rfind("The number", 0) == 0) break;  // the advice at the end
      EXPECT_LE(display_width(line), columns) << line;
    }
  const auto scores = lines_in(printed(print_card_table, found("scores").cards, 0));
  EXPECT_EQ(scores.at(1).rfind("   1 scaled_dot", 0), 0U) << scores.at(1);
  EXPECT_NE(scores.at(1).find(found("scaled_dot").cards.at(0).choose), std::string::npos) << scores.at(1);
}

// ---- the page ----

/// "", or the first line that differs, in both texts.
std::string first_difference(const std::string& committed, const std::string& written,
                             const std::string& page = "docs/catalogue.md") {
  const auto old_lines = lines_in(committed), new_lines = lines_in(written);
  for (size_t i = 0; i < std::max(old_lines.size(), new_lines.size()); ++i) {
    const auto line = [&](const std::vector<std::string>& lines) {
      return i < lines.size() ? "'" + shortened(lines[i], 100) + "'" : "the end of the file";
    };
    if (line(old_lines) != line(new_lines) || (i < old_lines.size() && old_lines[i] != new_lines[i]))
      return page + ":" + std::to_string(i + 1) + ": got " + line(old_lines) + ", expected " + line(new_lines);
  }
  return "";
}

TEST(List, EqualsTheDocumentation) {
  std::ifstream file("docs/catalogue.md");
  std::stringstream committed;
  committed << file.rdbuf();
  const std::string difference = first_difference(committed.str(), printed(print_cards_markdown, every_card()));
  EXPECT_TRUE(difference.empty()) << difference
                                  << "\nwrite it again: build/release/bin/heed list --markdown > docs/catalogue.md";
}

/// The text between the two comments of docs/recipes.md.
std::string committed_keys() {
  std::ifstream file("docs/recipes.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str(), begin = "<!-- keys: written by tools/recipe_keys -->\n",
                    end = "\n<!-- end of keys";
  const size_t first = text.find(begin), last = text.find(end);
  if (first == std::string::npos || last == std::string::npos) return "no comments around the keys";
  return text.substr(first + begin.size(), last - first - begin.size());
}

TEST(List, WritesTheKeysOfTheDocumentation) {
  const std::string difference =
      first_difference(committed_keys(), printed(print_keys_markdown, every_card()), "the keys of docs/recipes.md");
  EXPECT_TRUE(difference.empty()) << difference << "\nwrite them again: tools/recipe_keys";
}

TEST(List, ShowsTheFirstLineInWhichAPageIsStale) {
  EXPECT_EQ(first_difference("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(first_difference("a\nb\nc\n", "a\nx\nc\n"), "docs/catalogue.md:2: got 'b', expected 'x'");
  EXPECT_EQ(first_difference("a\n", "a\nx\n"), "docs/catalogue.md:2: got the end of the file, expected 'x'");
  EXPECT_EQ(first_difference("a\nb\n", "a\n"), "docs/catalogue.md:2: got 'b', expected the end of the file");
}

// The cards built into the program equal those of this libheed, in every field.
TEST(List, HasTheCardsOfTheCatalogueWithoutTorch) {
  const auto built_in = catalogue_cards();
  EXPECT_EQ(cards_to_text(built_in), cards_to_text(every_card()));
  EXPECT_EQ(printed(print_cards_json, built_in), printed(print_cards_json, every_card()));
  EXPECT_EQ(printed(print_cards_markdown, built_in), printed(print_cards_markdown, every_card()));
}

}  // namespace
}  // namespace heed::cli
