// A tree of settings as people write them: maps, lists and words, read by dotted path.
//
// What a part asks for is what it knows, as with the options of words.h: a read notes the key, its kind and its
// default, and a key of the tree that nobody asked for is refused. Values stay the words that were written; what they
// mean is decided by who reads them, by YAML's rules (1e-3, true/yes/on, and null or ~ for absent).

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
  bool quoted = false;             // a text that would read as something else without quotes
  std::vector<std::string> names;  // of a map: its keys, in the order written
  std::vector<Setting> items;      // of a list or a map
  std::string origin{};            // "toy.yaml:12" or "command line"; "" when nobody knows

  static Setting scalar(std::string text, std::string origin = "");
  static Setting list(const std::vector<std::string>& texts, std::string origin = "");
  static Setting map(std::string origin = "");

  const Setting* find(const std::string& name) const;
  Setting* find(const std::string& name);
  /// The value below name, which is made absent where there was none.
  Setting& at(const std::string& name);

  /// The same words in the same places, wherever they are from.
  bool operator==(const Setting& other) const {
    return form == other.form && text == other.text && names == other.names && items == other.items;
  }
};

/// Bounds that do not belong to the range themselves: number("dropout", 0.1, 0, below(1)) wants 0 <= dropout < 1.
inline double below(double bound) {
  return std::nextafter(bound, -std::numeric_limits<double>::infinity());
}
inline double above(double bound) {
  return std::nextafter(bound, std::numeric_limits<double>::infinity());
}

/// A view of one map of the tree. Copies share the tree.
class Settings {
 public:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

  struct Known {
    std::string path, kind, default_value;  // otherwise: the default, as it is written; "" for a map
  };

  Settings();
  /// name: how errors call the tree, "recipe". Refuses keys that stand twice, are empty or have a dot.
  explicit Settings(Setting written, std::string name = "recipe");

  double number(const std::string& key, double default_value, double min = -kInfinity, double max = kInfinity) const;
  int64_t integer(const std::string& key, int64_t default_value, int64_t min = kMin, int64_t max = kMax) const;
  std::string text(const std::string& key, const std::string& default_value = "") const;
  /// One of the words; the first is the default.
  std::string choice(const std::string& key, const std::vector<std::string>& choices) const;
  bool flag(const std::string& key, bool default_value = false) const;
  /// A list, or one text for a list of one.
  std::vector<std::string> texts(const std::string& key, const std::vector<std::string>& default_value = {}) const;

  /// The map below key, an empty one where there is none. A word or list in its place is short for {short_for: it}.
  Settings at(const std::string& key, const std::string& short_for = "") const;
  /// A word that stands for others, and is written out as those: "" where there is none.
  std::string shorthand(const std::string& key) const;
  /// Whether a value stands there. Asking counts as reading.
  bool has(const std::string& key) const;

  /// set("train.lr", ...): maps are made on the way; a word in the way is kept as the short form that at() reads. What
  /// stood there is replaced.
  void set(const std::string& path, Setting value);
  void set(const std::string& path, const std::string& text) { set(path, Setting::scalar(text)); }

  /// Refuses every key of the whole tree that nobody asked for, one line each.
  void refuse_unread() const;

  /// "recipe: train.batch <words> [toy.yaml:7]"
  template <typename... Parts>
  [[noreturn]] void refuse(const std::string& key, const Parts&... parts) const {
    std::ostringstream text;
    (text << ... << parts);
    refuse_value(key, text.str());
  }

  /// "train.lr"
  std::string path(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  /// Where the value was written.
  std::string origin(const std::string& key) const;

  /// What was asked for below this map, with its value or its default, in the order of the questions.
  Settings resolved() const;
  const Setting& written() const;
  std::vector<Known> known() const;

 private:
  struct Tree;
  Settings(std::shared_ptr<Tree> tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {}

  [[noreturn]] void refuse_value(const std::string& key, const std::string& text) const;
  Setting* find(const std::string& key) const;  // nullptr when absent
  const Setting* find_scalar(const std::string& key, const std::string& expected) const;
  void note(const std::string& key, const std::string& kind, const Setting& default_value, Setting value) const;

  std::shared_ptr<Tree> tree_;
  std::string path_;  // "" at the top
};

}  // namespace heed
