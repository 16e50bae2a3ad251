// A tree of settings (a recipe): maps, lists and scalars, read by dotted path.
//
// The keys that the program reads define the schema, as with the options of spec.h: a read records the key, its kind
// and its default, and refuse_unread() throws for keys that were never read. Scalars are stored as text; the reader
// converts them by YAML's rules (1e-3, true/yes/on, and null or ~ for absent).

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace heed {

/// One value as it was written.
struct Setting {
  enum class Form { absent, scalar, list, map };
  Form form = Form::absent;
  std::string text{};              // of a scalar
  bool quoted = false;             // the text needs quotes in YAML
  std::vector<std::string> names;  // keys of a map, in the order written
  std::vector<Setting> items;      // items of a list, or values of a map
  std::string origin{};            // "toy.yaml:12" or "command line"; "" if unknown

  static Setting scalar(std::string text, std::string origin = "");
  static Setting list(const std::vector<std::string>& texts, std::string origin = "");
  static Setting map(std::string origin = "");

  /// The value of a key of this map, or null.
  const Setting* find(const std::string& name) const;
  Setting* find(const std::string& name);
  /// The value of a key of this map; inserts an absent one if the key is new.
  Setting& at(const std::string& name);

  /// Compares the values, not their origins.
  bool operator==(const Setting& other) const {
    return form == other.form && text == other.text && names == other.names && items == other.items;
  }
};

/// Exclusive bounds: number("dropout", 0.1, 0, below(1)) requires 0 <= dropout < 1.
inline double below(double bound) {
  return std::nextafter(bound, -std::numeric_limits<double>::infinity());
}
inline double above(double bound) {
  return std::nextafter(bound, std::numeric_limits<double>::infinity());
}

/// A view of one map of the tree. Copies share the tree. Reads throw Error, with path and origin, if a value has the
/// wrong kind or is out of range.
class Settings {
 public:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

  struct Known {
    std::string path, kind, default_value;  // default_value: as written in YAML; "" for a map
  };

  Settings();
  /// name: of the tree in error messages. Throws Error for keys that are repeated, empty or contain a dot.
  explicit Settings(Setting written, std::string name = "recipe");

  double number(const std::string& key, double default_value, double min = -kInfinity, double max = kInfinity) const;
  int64_t integer(const std::string& key, int64_t default_value, int64_t min = kMin, int64_t max = kMax) const;
  std::string text(const std::string& key, const std::string& default_value = "") const;
  /// One of the choices; the first is the default.
  std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
  bool flag(const std::string& key, bool default_value = false) const;
  /// A list of texts; a scalar is read as a list of one.
  std::vector<std::string> texts(const std::string& key, const std::vector<std::string>& default_value = {}) const;

  /// The map of a key, empty if absent. A scalar or list there is a short form of {short_for: value}.
  Settings at(const std::string& key, const std::string& short_for = "") const;
  /// A text that the caller expands to other settings, "" if absent; not part of resolved().
  std::string shorthand(const std::string& key) const;
  /// Whether the key has a value. Counts as reading it.
  bool has(const std::string& key) const;

  /// set("train.lr", ...) replaces a value, or inserts it with the maps on its path. A scalar on the path is kept as
  /// the short form that at() reads.
  void set(const std::string& path, Setting value);
  void set(const std::string& path, const std::string& text) { set(path, Setting::scalar(text)); }

  /// Throws Error if the tree has keys that were never read, with one line for each.
  void refuse_unread() const;

  /// Throws Error: "recipe: train.lr <parts> [toy.yaml:7]".
  template <typename... Parts>
  [[noreturn]] void refuse(const std::string& key, const Parts&... parts) const {
    std::ostringstream text;
    (text << ... << parts);
    refuse_value(key, text.str());
  }

  /// The path of a key of this map from the root: "train.lr".
  std::string path(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  /// Origin of the value of a key, or "".
  std::string origin(const std::string& key) const;

  /// All keys below this map that were read, with their values or defaults, in the order of the first read.
  Settings resolved() const;
  /// This map as given.
  const Setting& written() const;
  /// The schema: keys below this map that were read.
  std::vector<Known> known() const;

 private:
  struct Tree;
  Settings(std::shared_ptr<Tree> tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {}

  [[noreturn]] void refuse_value(const std::string& key, const std::string& text) const;
  Setting* find(const std::string& key) const;  // nullptr when absent
  const Setting* find_scalar(const std::string& key, const std::string& expected) const;
  void note(const std::string& key, const std::string& kind, const Setting& default_value, Setting value) const;

  std::shared_ptr<Tree> tree_;
  std::string path_;  // "" at the root
};

}  // namespace heed
