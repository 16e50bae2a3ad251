#include "heed/base/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/renamed.h"

namespace heed {
namespace {

std::string trimmed(std::string_view text) {
  const char* whitespace = " \t\r\n";
  const size_t first = text.find_first_not_of(whitespace);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(whitespace) - first + 1));
}

/// Splits at each separator outside parentheses.
std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] == separator && depth == 0) {
      pieces.push_back(trimmed(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  pieces.push_back(trimmed(text.substr(from)));
  return pieces;
}

/// By from_chars, which is independent of the locale.
bool is_number(const std::string& text, double& value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end && std::isfinite(value);
}

std::string shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

Options::Options(std::string part, std::vector<std::pair<std::string, std::string>> given) : part_(std::move(part)) {
  for (auto& [name, value] : given) {
    const auto is_same = [&name = name](const Item& item) { return item.name == name; };  // clang captures no binding
    const bool twice = !name.empty() && std::any_of(given_.begin(), given_.end(), is_same);
    check(!twice, part_, ": option '", excerpt(name), "' is given twice");
    given_.push_back({name, value, false});
  }
}

Options::Item* Options::take_named(const std::string& name) const {
  for (auto& item : given_) {
    if (item.name != name) continue;
    item.read = true;
    return &item;
  }
  return nullptr;
}

void Options::note(Known known) const {
  known_.push_back(std::move(known));
}

double Options::number(const std::string& name, double default_value) const {
  note({name, shown(default_value), "number"});
  double value = 0;
  if (const Item* item = take_named(name)) {
    check(is_number(item->value, value), part_, ": option '", name, "' is '", excerpt(item->value),
          "', expected a number");
    return value;
  }
  for (auto& item : given_) {
    if (item.read || !item.name.empty() || !is_number(item.value, value)) continue;
    item.read = true;
    return value;
  }
  return default_value;
}

int64_t Options::integer(const std::string& name, int64_t default_value) const {
  const double value = number(name, static_cast<double>(default_value));
  check(value == std::floor(value) && std::abs(value) < 9e15, part_, ": option '", name, "' is ", value,
        ", expected a whole number");
  return static_cast<int64_t>(value);
}

std::string Options::choice(const std::string& name, const std::vector<std::string>& choices) const {
  note({name, choices.front(), joined(choices, " | ")});
  if (const Item* item = take_named(name)) {
    const bool fine = std::find(choices.begin(), choices.end(), item->value) != choices.end();
    check(fine, part_, ": option '", name, "' is '", excerpt(item->value), "', expected one of ", joined(choices),
          suggestion(item->value, choices));
    return item->value;
  }
  for (auto& item : given_) {
    if (item.read || !item.name.empty() || std::find(choices.begin(), choices.end(), item.value) == choices.end())
      continue;
    item.read = true;
    return item.value;
  }
  return choices.front();
}

bool Options::flag(const std::string& name, bool default_value) const {
  note({name, default_value ? "true" : "false", "true | false"});
  if (const Item* item = take_named(name)) {
    const bool yes = item->value == "true", no = item->value == "false";
    check(yes || no, part_, ": option '", name, "' is '", excerpt(item->value), "', expected true or false");
    return yes;
  }
  for (auto& item : given_) {
    if (item.read || !item.name.empty() || item.value != name) continue;
    item.read = true;
    return true;
  }
  return default_value;
}

void Options::refuse_unread() const {
  for (const auto& item : given_) {
    if (item.read) continue;
    std::vector<std::string> names, list;
    for (const auto& known : known_) {
      names.push_back(known.name);
      list.push_back(known.name + " (" + known.kind + "; " + known.default_value + ")");
      for (const auto& word : split_at(known.kind, '|')) names.push_back(word);
    }
    const std::string& word = item.name.empty() ? item.value : item.name;
    const std::string now = replacement_of(word, names);
    check(now.empty(), part_, ": got ", word, ", expected ", now, ": the option has a new name");
    fail(part_, ": unknown option '", excerpt(word), "'", suggestion(word, names), "; ",
         list.empty() ? "it has none" : "known: " + joined(list));
  }
}

std::string Options::to_string() const {
  std::vector<std::string> items;
  for (const auto& item : given_) items.push_back(item.name.empty() ? item.value : item.name + "=" + item.value);
  return items.empty() ? "" : "(" + joined(items) + ")";
}

PartSpec parse_part(std::string_view text, const std::string& kind) {
  const std::string whole = trimmed(text);
  const size_t open = whole.find('(');
  const std::string name = trimmed(whole.substr(0, open));
  check(!name.empty(), kind, ": got '", excerpt(whole), "', expected a name such as softmax or entmax(1.5)");
  std::vector<std::pair<std::string, std::string>> given;
  if (open != std::string::npos) {
    const bool closed = whole.find(')') == whole.size() - 1 && whole.find('(', open + 1) == std::string::npos;
    check(closed, kind, "/", excerpt(name), ": got '", excerpt(whole), "', expected name(option, option=value)");
    const std::string inside = trimmed(whole.substr(open + 1, whole.size() - open - 2));
    for (const auto& item : inside.empty() ? std::vector<std::string>{} : split_at(inside, ',')) {
      const size_t equal = item.find('=');
      const std::string option = equal == std::string::npos ? "" : trimmed(item.substr(0, equal));
      const std::string value = equal == std::string::npos ? item : trimmed(item.substr(equal + 1));
      check(!value.empty() && (equal == std::string::npos || !option.empty()), kind, "/", excerpt(name), ": '",
            excerpt(whole), "' has an empty option");
      given.emplace_back(option, value);
    }
  }
  check(name.find(')') == std::string::npos, kind, ": '", excerpt(whole),
        "' has a closing bracket without an opening one");
  return {name, Options(kind + "/" + name, std::move(given))};
}

MechanismSpec parse_mechanism(std::string_view text) {
  const auto refuse = [&] {
    fail("mechanism: got '", excerpt(trimmed(text)),
         "', expected 'score + alignment' or 'score + alignment, multi', as in 'additive + softmax'");
  };
  const auto halves = split_at(text, ',');
  const auto parts = split_at(halves.front(), '+');
  if (halves.size() > 2 || parts.size() != 2 || parts[0].empty() || parts[1].empty()) refuse();
  return {parse_part(parts[0], "score"), parse_part(parts[1], "alignment"),
          parse_part(halves.size() == 2 ? halves[1] : "single", "dimensionality")};
}

}  // namespace heed
