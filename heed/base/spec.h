// Parts and mechanisms as people write them.
//
//   part        name            name(3, renorm)            name(window=3, form=renorm)
//   mechanism   score + alignment            score + alignment, dimensionality
//
// A part reads its options in its constructor. What it asks for is what it knows: an option that no part asked for is
// refused with the list of those it did ask for, and `heed list` prints that same list.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// What stands in brackets after a part's name.
class Options {
 public:
  struct Known {
    std::string name, default_value, kind;  // kind: "number", "yes or no", or the words to choose from
  };

  Options() = default;
  /// part: how errors call the part, "alignment/local_p"; given: (name, value), the name empty when only a value stands
  /// there.
  Options(std::string part, std::vector<std::pair<std::string, std::string>> given);

  /// `name=2.5`, or the first bare number that no earlier option took.
  double number(const std::string& name, double default_value) const;
  /// A number without a fraction.
  int64_t integer(const std::string& name, int64_t default_value) const;
  /// `name=word`, or a bare word that is one of `words`. The first of them is the default.
  std::string choice(const std::string& name, const std::vector<std::string>& spec) const;
  /// `name`, `name=true` or `name=false`.
  bool flag(const std::string& name, bool default_value = false) const;

  /// The same options, none of them read yet: a part can be made from the same words again.
  Options unread() const { return Options(*this, Again{}); }
  /// Refuses what nobody asked for. Called once a part has been made.
  void refuse_unread() const;

  const std::string& part() const { return part_; }
  const std::vector<Known>& known() const { return known_; }
  bool empty() const { return given_.empty(); }
  std::string to_string() const;  // "(3, renorm)", or "" when nothing was given

 private:
  struct Again {};
  Options(const Options& other, Again) : part_(other.part_), given_(other.given_) {
    for (auto& item : given_) item.read = false;
  }

  struct Item {
    std::string name, value;
    bool read = false;
  };
  Item* take_named(const std::string& name) const;
  void note(Known known) const;

  std::string part_;
  mutable std::vector<Item> given_;
  mutable std::vector<Known> known_;
};

struct PartSpec {
  std::string name;
  Options options;
  std::string to_string() const { return name + options.to_string(); }
};

struct MechanismSpec {
  PartSpec score, align, dimensionality;  // dimensionality.name is "single" where nothing was said
};

/// "entmax(1.5)"; kind is the catalogue it belongs to: "score", "alignment", "dimensionality".
PartSpec parse_part(std::string_view text, const std::string& kind);
MechanismSpec parse_mechanism(std::string_view text);

}  // namespace heed
