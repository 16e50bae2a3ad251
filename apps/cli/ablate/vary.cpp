#include "apps/cli/ablate/vary.h"

#include <algorithm>
#include <map>
#include <set>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/md5.h"
#include "heed/base/scalar.h"

namespace heed::cli {
namespace {

constexpr size_t kMaxName = 100, kNameHash = 8;          // bytes
constexpr size_t kMaxCells = 10'000, kMaxSeeds = 1'000;  // more are a mistake

const std::map<char, char> kBrackets{{'(', ')'}, {'[', ']'}, {'{', '}'}};

std::string without_spaces_around(const std::string& text) {
  const char* const whitespace = " \t\r\n";
  const size_t first = text.find_first_not_of(whitespace);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(whitespace) - first + 1);
}

/// Follows brackets and quotes along a text.
class Nesting {
 public:
  explicit Nesting(const std::string& text) : text_(text) {}

  /// Whether the letter is outside of all brackets and quotes.
  bool outside(char letter) {
    if (quote_ != 0) {
      if (letter == quote_) quote_ = 0;
      return false;
    }
    if (letter == '"' || letter == '\'') {
      quote_ = letter;
      return false;
    }
    const auto opened = kBrackets.find(letter);
    if (opened != kBrackets.end()) closing_ += opened->second;
    const bool closes = letter == ')' || letter == ']' || letter == '}';
    check(!closes || (!closing_.empty() && closing_.back() == letter), "ablate: got '", excerpt(text_),
          "' with an unexpected ", std::string(1, letter), ", expected brackets in pairs");
    if (closes) closing_.pop_back();
    return closing_.empty() && !closes;
  }

  void check_closed() const {
    const std::string open = quote_ != 0        ? std::string(1, quote_)
                             : closing_.empty() ? ""
                                                : closing_.substr(closing_.size() - 1);
    check(open.empty(), "ablate: got '", excerpt(text_), "' without its last ", open,
          ", expected brackets and quotes in pairs; quote the whole option for the shell");
  }

 private:
  const std::string& text_;
  std::string closing_;  // brackets to be closed, the innermost last
  char quote_ = 0;
};

std::string key_of(const std::string& override) {
  return override.substr(0, override.find('='));
}

void check_key(const std::string& key) {
  check(key != "train.seed", "ablate: got train.seed, expected --seeds 3, or --seeds 1,5,7");
  check(key != "name" && key != "run" && key.rfind("run.", 0) != 0, "ablate: got ", excerpt(key),
        ", but every cell has a run folder of its own; name the folder of the ablation with --out");
}

/// Only characters that are safe everywhere; spaces are dropped.
std::string safe_name(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || std::string("._+-").find(letter) != std::string::npos;
    if (plain)
      safe += letter;
    else if (letter != ' ' && !safe.empty() && safe.back() != '_')
      safe += '_';
  }
  return safe.substr(0, safe.find_last_not_of('_') + 1);
}

/// The last step of each key, or all of it where two are equal.
std::vector<std::string> short_keys(const std::vector<Axis>& axes) {
  std::map<std::string, int> count;
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  for (const auto& axis : axes) ++count[last(axis.key)];
  std::vector<std::string> keys;
  keys.reserve(axes.size());
  for (const auto& axis : axes) keys.push_back(count[last(axis.key)] == 1 ? last(axis.key) : axis.key);
  return keys;
}

}  // namespace

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values{""};
  Nesting nesting(text);
  for (const char letter : text) {
    const bool separates = nesting.outside(letter) && letter == ',';
    if (separates)
      values.emplace_back();
    else
      values.back() += letter;
  }
  nesting.check_closed();
  for (auto& value : values) {
    value = without_spaces_around(value);
    check(!value.empty(), "ablate: got '", excerpt(text), "' with an empty value, expected value,value");
  }
  return values;
}

Axis parse_axis(const std::string& option) {
  const size_t equal = option.find('=');
  check(equal != std::string::npos && equal > 0, "ablate: got --vary '", excerpt(option),
        "', expected key.path=value,value, as model.attention.score=additive,dot");
  Axis axis{without_spaces_around(option.substr(0, equal)), split_values(option.substr(equal + 1))};
  check_key(axis.key);
  const std::set<std::string> different(axis.values.begin(), axis.values.end());
  check(different.size() == axis.values.size(), "ablate: got --vary '", excerpt(option),
        "' with a value twice, expected different ones");
  return axis;
}

std::vector<Axis> parse_axes(const std::vector<std::string>& options) {
  std::vector<Axis> axes;
  double cells = 1;
  for (const auto& option : options) {
    axes.push_back(parse_axis(option));
    cells *= static_cast<double>(axes.back().values.size());
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      check(axes[i].key != axes.back().key, "ablate: got --vary ", excerpt(axes[i].key),
            " twice, expected all values of a key in one");
  }
  check(cells <= kMaxCells, "ablate: got a grid of ", cells, " cells, expected at most ", kMaxCells);
  return axes;
}

std::vector<int64_t> parse_seeds(const std::string& text) {
  std::vector<int64_t> seeds;
  for (const auto& word : split_values(text)) {
    int64_t seed = 0;
    check(read_integer(word, seed) && seed >= 0, "ablate: got --seeds '", excerpt(text),
          "', expected their number, as 3, or a list, as 1,5,7");
    check(std::find(seeds.begin(), seeds.end(), seed) == seeds.end(), "ablate: got --seeds '", excerpt(text), "' with ",
          seed, " twice, expected different ones");
    seeds.push_back(seed);
  }
  if (seeds.size() == 1) {
    const int64_t count = seeds.front();
    check(count >= 1 && count <= static_cast<int64_t>(kMaxSeeds), "ablate: got --seeds ", count, ", expected 1 to ",
          kMaxSeeds);
    seeds.clear();
    for (int64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  }
  return seeds;
}

void check_overrides(const std::vector<std::string>& overrides, const std::vector<Axis>& axes) {
  for (const auto& override : overrides) {
    check_key(key_of(override));
    for (const auto& axis : axes)
      check(key_of(override) != axis.key, "ablate: got ", excerpt(override), " and --vary ", axis.key,
            ", expected one of them");
  }
}

std::vector<std::vector<std::string>> grid_of(const std::vector<Axis>& axes) {
  std::vector<std::vector<std::string>> grid{{}};
  for (const auto& axis : axes) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& cell : grid)
      for (const auto& value : axis.values) {
        longer.push_back(cell);
        longer.back().push_back(value);
      }
    grid = std::move(longer);
  }
  return grid;
}

std::vector<std::string> cell_names(const std::vector<Axis>& axes, const std::vector<std::vector<std::string>>& grid) {
  const auto keys = short_keys(axes);
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (const auto& values : grid) {
    std::string name;
    for (size_t i = 0; i < keys.size(); ++i)
      name += (i == 0 ? "" : ",") + safe_name(keys[i]) + "=" + safe_name(values[i]);
    names.push_back(name);
    ++count[name];
  }
  for (size_t i = 0; i < names.size(); ++i) {  // the hash depends on the values alone, so a larger grid keeps its names
    if (names[i].size() <= kMaxName && count[names[i]] == 1) continue;
    names[i] = names[i].substr(0, kMaxName - kNameHash - 1) + "-" + md5_hex(joined(grid[i], "\n")).substr(0, kNameHash);
  }
  return names;
}

}  // namespace heed::cli
