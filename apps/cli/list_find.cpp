#include <algorithm>
#include <array>

#include "apps/cli/list.h"

#include "heed/base/catalogue.h"
#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"

namespace heed::cli {
namespace {

/// The term itself, then the term without a common suffix: "soft_attention" -> "soft".
std::vector<std::string> terms_of(const std::string& name) {
  const std::string whole = catalogue_term(name);
  std::vector<std::string> terms{whole};
  for (const std::string ending :
       {"_co_attention", "_attention", "_score", "_scoring", "_alignment", "_query", "_features", "_positions"})
    if (whole.size() > ending.size() && whole.compare(whole.size() - ending.size(), ending.size(), ending) == 0)
      terms.push_back(whole.substr(0, whole.size() - ending.size()));
  return terms;
}

bool among(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Parts with this name, then parts that have it as a synonym.
FoundCards called(const std::vector<Card>& all, const std::string& term, const std::string& shown) {
  FoundCards found;
  for (const auto& card : all)
    if (card.name == term) found.cards.push_back(card);
  for (const auto& card : all)
    if (among(card.synonyms, term)) {
      found.cards.push_back(card);
      found.remarks.push_back(shown + " is another name of " + card.name + " (" + card.kind + ")");
    }
  return found;
}

FoundCards family_called(const std::vector<Card>& all, const std::string& term) {
  const bool components = term == "component" || term == "components";
  FoundCards found{{}, {}, true};
  for (const auto& family : card_families()) {
    const bool model = family.kind.size() > 6 && family.kind.substr(family.kind.size() - 6) == " model";
    const bool meant = term == catalogue_term(family.kind) || term == catalogue_term(family.plural);
    if (!meant && !(components && model)) continue;
    for (const auto& card : all)
      if (family.has(card)) found.cards.push_back(card);
  }
  return found;
}

std::string unknown(const std::vector<Card>& all, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& card : all) {
    known.push_back(card.name);
    known.insert(known.end(), card.synonyms.begin(), card.synonyms.end());
  }
  for (const auto& family : card_families()) known.push_back(family.plural);
  return suggestion(catalogue_term(name), known);
}

}  // namespace

FoundCards find_cards(const std::vector<Card>& all, const std::string& name) {
  const std::string bare = name.substr(0, name.find('('));
  for (const auto& whole : {name, bare})  // "multi(lift)" is a name; "entmax(1.5)" is a name with options
    for (const auto& term : terms_of(whole)) {
      auto found = called(all, term, excerpt(whole));
      if (found.cards.empty()) found = family_called(all, term);
      if (!found.cards.empty()) return found;
    }
  fail("list: got '", excerpt(name), "'", unknown(all, bare),
       ", expected a part, another name of one, or a kind of parts; heed list shows all of them");
}

}  // namespace heed::cli
