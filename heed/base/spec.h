// Parts and mechanisms written as text (specs).
//
//   part        name            name(3, renorm)            name(window=3, form=renorm)
//   mechanism   score + alignment            score + alignment, dimensionality
//
// A part reads its options in its constructor, and these reads define which options it has: an option that was not read
// is refused with the list of those that were, which `heed list` prints as well.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The options in parentheses after a part's name. Reads throw Error if a value has the wrong kind.
class Options {
 public:
  struct Known {
    std::string name, default_value, kind;  // kind: "number", "true | false", or the choices, "plain | renorm"
  };

  Options() = default;
  /// part: name in error messages, "alignment/local_p"; given: pairs (name, value), with an empty name for a bare
  /// value.
  Options(std::string part, std::vector<std::pair<std::string, std::string>> given);

  /// `name=2.5`, or the first bare number that was not read yet.
  double number(const std::string& name, double default_value) const;
  /// The same for integers.
  int64_t integer(const std::string& name, int64_t default_value) const;
  /// `name=value`, or a bare value, that is one of the choices. The first is the default.
  std::string choice(const std::string& name, const std::vector<std::string>& choices) const;
  /// `name`, `name=true` or `name=false`.
  bool flag(const std::string& name, bool default_value = false) const;

  /// The same options with none of them read, to make another part from the same spec.
  Options unread() const { return Options(*this, Again{}); }
  /// Throws Error if an option was not read. Called after a part has been made.
  void refuse_unread() const;

  const std::string& part() const { return part_; }
  const std::vector<Known>& known() const { return known_; }
  bool empty() const { return given_.empty(); }
  std::string to_string() const;  // "(3, renorm)", or "" if there are none

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
  PartSpec score, align, dimensionality;  // dimensionality.name is "single" by default
};

/// Parses "entmax(1.5)"; kind, for error messages: "score", "alignment", "dimensionality". Throws Error if the text is
/// malformed; names are checked by the catalogue.
PartSpec parse_part(std::string_view text, const std::string& kind);
MechanismSpec parse_mechanism(std::string_view text);

}  // namespace heed
