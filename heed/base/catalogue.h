// The registry of the parts of one kind (scores, alignments) by name. A part registers itself in its own file, so a new
// part edits no list:
//
//   const Catalogue<Score>::Entry dot_entry{"dot", make_part<Score, Dot>, {.formula = "q . k", ...}};
//
// Parts that own tensors are made from a spec and sizes, Catalogue<Part, Sizes>, and are not const.

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/nearest.h"
#include "heed/base/spec.h"

namespace heed {

/// Description of a part, from which `heed list` and the catalogue page are generated.
struct Description {
  std::string formula{}, paper{}, cost{}, choose{};
  std::string axis{};  // for structures, the axis of the taxonomy: "features", "levels", ...
  std::vector<std::string>
      variants{};  // specs with options, which the promises test as well: {"entmax(1.3)", "entmax(learned)"}
  std::vector<std::string> synonyms{};  // other names in the literature, written as terms (catalogue_term)
  int order = 0;  // of choice among its kind and axis: 1 is what to try first; 0: after the others
  bool operator==(const Description&) const = default;
};

/// A name as the catalogue writes it: "Scaled dot-product" -> "scaled_dot_product".
std::string catalogue_term(const std::string& text);

template <typename Part, typename... With>
class Catalogue {
 public:
  using Made = std::shared_ptr<std::conditional_t<sizeof...(With) == 0, const Part, Part>>;
  using Maker = Made (*)(const Options&, const With&...);

  struct Entry {
    /// A second entry of a name is refused, unless its description is the same: then it is the same part, in a program
    /// that links a static library of ours next to the shared one that contains it.
    Entry(const std::string& name, Maker maker, Description description) {
      if (const auto same = table().find(name); same != table().end() && same->second.description == description)
        return;
      check(named(name).empty(), "catalogue: two ", Part::kKind, "s are called ", name);
      for (const auto& synonym : description.synonyms)
        check(synonym != name && named(synonym).empty(), "catalogue: two ", Part::kKind, "s are called ", synonym);
      table().emplace(name, Record{maker, std::move(description)});
    }
  };

  /// Makes a part from its spec. Throws Error for unknown names and options. Part::kKind ("score") is its kind in error
  /// messages.
  static Made make(const PartSpec& spec, const With&... with) {
    const Record& row = find(spec.name);
    const Options options = spec.options.unread();
    auto part = row.maker(options, with...);
    options.refuse_unread();
    return part;
  }
  static Made make(const std::string& spec, const With&... with) {
    return make(parse_part(spec, Part::kKind), with...);
  }

  /// The options of a part: those that its constructor reads.
  static std::vector<Options::Known> options(const std::string& name, const With&... with) {
    const Options none(std::string(Part::kKind) + "/" + name, {});
    find(name).maker(none, with...);
    return none.known();
  }

  /// The part that this term is a synonym of: "bilinear" -> "general"; "" where there is none.
  static std::string meant_by(const std::string& term) {
    for (const auto& [name, row] : table()) {
      const auto& synonyms = row.description.synonyms;
      if (std::find(synonyms.begin(), synonyms.end(), catalogue_term(term)) != synonyms.end()) return name;
    }
    return "";
  }

  static const Description& describe(const std::string& name) { return find(name).description; }

  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, row] : table()) all.push_back(name);
    return all;
  }

 private:
  struct Record {
    Maker maker;
    Description description;
  };
  static std::map<std::string, Record>& table() {
    static std::map<std::string, Record>
        rows;  // a function-local static: initialized before the first entry, in any order of the files
    return rows;
  }
  /// The part that has this name or this synonym, or "".
  static std::string named(const std::string& name) { return table().count(name) > 0 ? name : meant_by(name); }
  static const Record& find(const std::string& name) {
    const auto found = table().find(name);
    if (found != table().end()) return found->second;
    const std::string meant = meant_by(name);
    check(meant.empty(), Part::kKind, ": got '", name, "', expected '", meant, "' (", name, " is another name of it)");
    fail(Part::kKind, ": no part called '", name, "'", suggestion(name, names()), "; known: ", joined(names()));
  }
};

template <typename Part, typename Kind>
std::shared_ptr<const Part> make_part(const Options& options) {
  return std::make_shared<const Kind>(options);
}

}  // namespace heed
