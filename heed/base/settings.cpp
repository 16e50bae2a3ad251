#include "heed/base/settings.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/range.h"
#include "heed/base/renamed.h"
#include "heed/base/scalar.h"

namespace heed {
namespace {

using Form = Setting::Form;

constexpr const char* kShort = "";  // placeholder key of a short form until at() names it

/// A text, marked as quoted if YAML would read it as another type.
Setting text_setting(const std::string& text) {
  Setting setting = Setting::scalar(text);
  setting.quoted = needs_quotes(text);
  return setting;
}

Setting list_setting(const std::vector<std::string>& texts) {
  Setting list = Setting::list({});
  for (const auto& text : texts) list.items.push_back(text_setting(text));
  return list;
}

std::string described(const Setting& value) {
  if (value.form == Form::list) return "a list";
  if (value.form != Form::map) return "'" + excerpt(value.text) + "'";
  const Setting* whole = value.find(kShort);
  return whole ? described(*whole) : "a map";
}

std::vector<std::string> pieces_of(const std::string& path) {
  std::vector<std::string> pieces;
  size_t from = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', from)) {
    pieces.push_back(path.substr(from, dot - from));
    from = dot + 1;
  }
  pieces.push_back(path.substr(from));
  return pieces;
}

std::string path_to(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "." + name;
}
/// "train.lr" -> "train" -> "".
std::string folder_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}
std::string name_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string location(const std::string& origin) {
  return origin.empty() ? "" : " [" + origin + "]";
}

/// "learning_rate" has the initials "lr".
std::string initials(const std::string& name) {
  std::string letters;
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] != '_' && (i == 0 || name[i - 1] == '_')) letters += name[i];
  return letters;
}

/// Whether one name abbreviates the other: by initials, or by one word less ("smoothing", "label_smoothing").
bool says_the_same(const std::string& one, const std::string& other) {
  const auto short_of = [](const std::string& a, const std::string& b) {
    return (a.size() > 1 && a == initials(b)) || (a.size() > 3 && b.find(a) != std::string::npos);
  };
  return short_of(one, other) || short_of(other, one);
}

/// Suggestion for a misspelled or misplaced path, or "". here: known names of the same map; values: paths of all known
/// values.
std::string meant(const std::string& path, const std::vector<std::string>& here,
                  const std::vector<std::string>& values) {
  const std::string folder = folder_of(path), name = name_of(path);
  if (const std::string near = nearest(name, here); !near.empty()) return path_to(folder, near);
  for (const auto& candidate : here)
    if (says_the_same(name, candidate)) return path_to(folder, candidate);
  for (const auto& candidate : values)
    if (name_of(candidate) == name) return candidate;
  return "";
}

void check_keys(const Setting& here, const std::string& path, const std::string& tree) {
  for (size_t i = 0; i < here.names.size(); ++i) {
    const std::string& name = here.names[i];
    const std::string where = location(here.items[i].origin);
    check(!name.empty(), tree, ": ", path.empty() ? "the top" : path, " has an empty key", where);
    check(name.find('.') == std::string::npos, tree, ": the key '", excerpt(name), "' has a dot, expected '",
          excerpt(name.substr(0, name.find('.'))), ":' with '", excerpt(name.substr(name.find('.') + 1)), ":' below it",
          where);
    const std::string full = path_to(path, name);
    const auto earlier = std::find(here.names.begin(), here.names.begin() + static_cast<std::ptrdiff_t>(i), name);
    if (earlier != here.names.begin() + static_cast<std::ptrdiff_t>(i)) {
      const auto& first = here.items[static_cast<size_t>(earlier - here.names.begin())];
      fail(tree, ": ", excerpt(full), " is given twice, as ", described(first), location(first.origin), " and as ",
           described(here.items[i]), where);
    }
    check_keys(here.items[i], full, tree);
  }
}

/// The value at a path; inserts maps where there are none.
Setting& make_way(Setting& root, const std::string& path, const std::string& tree, const std::string& origin) {
  Setting* here = &root;
  std::string so_far;
  for (const auto& piece : pieces_of(path)) {
    check(!piece.empty(), tree, ": the key '", excerpt(path), "' has an empty piece, expected one such as train.lr",
          location(origin));
    check(here->form != Form::list, tree, ": ", so_far, " is a list", location(here->origin), ", so there is no ", path,
          "; give it as a whole, ", so_far, "=[a, b]", location(origin));
    if (here->form == Form::absent) *here = Setting::map(origin);
    if (here->form == Form::scalar) {
      Setting map = Setting::map(here->origin);
      map.at(kShort) = std::move(*here);
      *here = std::move(map);
    }
    so_far = path_to(so_far, piece);
    here = &here->at(piece);
  }
  return *here;
}

}  // namespace

// ---- one value ----

Setting Setting::scalar(std::string text, std::string origin) {
  Setting setting;
  setting.form = Form::scalar;
  setting.text = std::move(text);
  setting.origin = std::move(origin);
  return setting;
}

Setting Setting::list(const std::vector<std::string>& texts, std::string origin) {
  Setting setting;
  setting.form = Form::list;
  for (const auto& text : texts) setting.items.push_back(scalar(text, origin));
  setting.origin = std::move(origin);
  return setting;
}

Setting Setting::map(std::string origin) {
  Setting setting;
  setting.form = Form::map;
  setting.origin = std::move(origin);
  return setting;
}

const Setting* Setting::find(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &items[static_cast<size_t>(found - names.begin())];
}

Setting* Setting::find(const std::string& name) {
  return const_cast<Setting*>(std::as_const(*this).find(name));
}

Setting& Setting::at(const std::string& name) {
  if (Setting* found = find(name)) return *found;
  names.push_back(name);
  return items.emplace_back();
}

// ---- the tree ----

struct Settings::Tree {
  struct Asked {
    Known known;
    Setting value;
  };
  Setting root;
  std::string name;
  std::vector<Asked> asked{};  // in the order of the first read, each path once

  Asked* find_asked(const std::string& path) {
    const auto found = std::find_if(asked.begin(), asked.end(), [&](const Asked& a) { return a.known.path == path; });
    return found == asked.end() ? nullptr : &*found;
  }

  Setting* find(const std::string& path) {
    Setting* here = &root;
    if (path.empty()) return here;
    for (const auto& piece : pieces_of(path)) {
      here = here->find(piece);
      if (!here) return nullptr;
    }
    return here;
  }

  void add_unread(const Setting& map, const std::string& folder, std::vector<std::string>& refusals) {
    for (size_t i = 0; i < map.names.size(); ++i) {
      const std::string path = path_to(folder, map.names[i]);
      const Asked* question = find_asked(path);
      if (!question) {
        refusals.push_back(refusal(path, map.items[i].origin));
      } else if (question->known.kind == kMap) {
        add_unread(map.items[i], path, refusals);
      }
    }
  }

  std::string refusal(const std::string& path, const std::string& origin) const {
    std::vector<std::string> values, here;
    for (const auto& question : asked) {
      if (question.known.kind != kMap) values.push_back(question.known.path);
      if (folder_of(question.known.path) == folder_of(path)) here.push_back(name_of(question.known.path));
    }
    const std::string now = replacement_of(name_of(path), here);
    if (!now.empty())
      return name + ": got " + path + ", expected " + path_to(folder_of(path), now) + ": the key has a new name" +
             location(origin);
    const std::string near = meant(path, here, values);
    return name + ": unknown key " + excerpt(path) + (near.empty() ? "" : " (did you mean " + near + "?)") + "; " +
           (here.empty() ? "none is known here" : "known here: " + joined(here)) + location(origin);
  }

  static constexpr const char *kMap = "map", *kAnything = "anything";
};

Settings::Settings() : Settings(Setting::map()) {}

Settings::Settings(Setting written, std::string name) : tree_(std::make_shared<Tree>()) {
  check(written.form == Form::map, name, ": got ", described(written), ", expected keys and values",
        location(written.origin));
  check_keys(written, "", name);
  tree_->root = std::move(written);
  tree_->name = std::move(name);
}

Setting* Settings::find(const std::string& key) const {
  Setting* found = tree_->find(path(key));
  return found && found->form != Form::absent ? found : nullptr;
}

const Setting* Settings::find_scalar(const std::string& key, const std::string& expected) const {
  const Setting* found = find(key);
  if (found && found->form != Form::scalar) refuse(key, "is ", described(*found), ", expected ", expected);
  return found;
}

void Settings::note(const std::string& key, const std::string& kind, const Setting& default_value,
                    Setting value) const {
  const std::string full = path(key);
  Tree::Asked question{{full, kind, default_value.form == Form::list ? "[]" : default_value.text}, std::move(value)};
  auto* earlier = tree_->find_asked(full);
  if (!earlier) {
    tree_->asked.push_back(std::move(question));
  } else if (kind != Tree::kAnything) {  // has() does not know the kind and default
    *earlier = std::move(question);
  }
}

void Settings::refuse_value(const std::string& key, const std::string& text) const {
  fail(tree_->name, ": ", path(key), " ", text, location(origin(key)));
}

std::string Settings::origin(const std::string& key) const {
  const Setting* found = tree_->find(path(key));
  return found ? found->origin : "";
}

// ---- reading ----

double Settings::number(const std::string& key, double default_value, double min, double max) const {
  const std::string expected = "a number (for example " + written_number(default_value) + ")";
  double value = default_value;
  if (const Setting* given = find_scalar(key, expected)) {
    const bool fine = read_number(given->text, value) && (std::isfinite(value) || std::isinf(default_value));
    if (!fine) refuse(key, "is '", excerpt(given->text), "', expected ", expected);
    if (!(min <= value && value <= max))
      refuse(key, "is ", excerpt(given->text), ", expected ", written_range(key, min, max));
  }
  note(key, "number", Setting::scalar(written_number(default_value)), Setting::scalar(written_number(value)));
  return value;
}

int64_t Settings::integer(const std::string& key, int64_t default_value, int64_t min, int64_t max) const {
  const std::string expected = "a whole number (for example " + std::to_string(default_value) + ")";
  int64_t value = default_value;
  if (const Setting* given = find_scalar(key, expected)) {
    if (!read_integer(given->text, value)) refuse(key, "is '", excerpt(given->text), "', expected ", expected);
    if (value < min || value > max)
      refuse(key, "is ", excerpt(given->text), ", expected ", written_range(key, min, max));
  }
  note(key, "whole number", Setting::scalar(std::to_string(default_value)), Setting::scalar(std::to_string(value)));
  return value;
}

std::string Settings::text(const std::string& key, const std::string& default_value) const {
  const Setting* given = find_scalar(key, "a text");
  std::string value = given ? given->text : default_value;
  note(key, "text", Setting::scalar(default_value), text_setting(value));
  return value;
}

std::string Settings::shorthand(const std::string& key) const {
  const Setting* given = find_scalar(key, "a text");
  note(key, "text", Setting::scalar(""), {});
  return given ? given->text : "";
}

std::string Settings::choice(const std::string& key, const std::vector<std::string>& choices) const {
  const std::string expected = "one of " + joined(choices);
  const Setting* given = find_scalar(key, expected);
  std::string value = given ? given->text : choices.front();
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    refuse(key, "is '", excerpt(value), "', expected ", expected, suggestion(value, choices));
  note(key, joined(choices, " | "), Setting::scalar(choices.front()), text_setting(value));
  return value;
}

bool Settings::flag(const std::string& key, bool default_value) const {
  bool value = default_value;
  const Setting* given = find_scalar(key, "true or false");
  if (given && !read_flag(given->text, value)) refuse(key, "is '", excerpt(given->text), "', expected true or false");
  const auto word = [](bool yes) { return Setting::scalar(yes ? "true" : "false"); };
  note(key, "true | false", word(default_value), word(value));
  return value;
}

std::vector<std::string> Settings::texts(const std::string& key, const std::vector<std::string>& default_value) const {
  const std::string expected = "a text or a list of texts";
  std::vector<std::string> value = default_value;
  const Setting* given = find(key);
  if (given && given->form == Form::list) {
    value.clear();
    for (const auto& item : given->items) {
      if (item.form != Form::scalar)
        refuse(key, "has ", item.form == Form::absent ? "nothing" : described(item), " in its place ", value.size() + 1,
               ", expected ", expected);
      value.push_back(item.text);
    }
  } else if (given) {
    value = {find_scalar(key, expected)->text};
  }
  note(key, "text or list of texts", list_setting(default_value), list_setting(value));
  return value;
}

Settings Settings::at(const std::string& key, const std::string& short_for) const {
  note(key, Tree::kMap, {}, {});
  Setting* here = find(key);
  const bool is_short = here && (here->form != Form::map || here->find(kShort));
  if (is_short) {
    if (short_for.empty()) refuse(key, "is ", described(*here), ", expected a map of settings");
    if (here->form != Form::map) {
      Setting map = Setting::map(here->origin);
      map.at(short_for) = std::move(*here);
      *here = std::move(map);
    } else {  // a short form to which set() added keys; a key that was set under the same name takes precedence
      const auto marker = std::find(here->names.begin(), here->names.end(), kShort);
      const auto index = marker - here->names.begin();
      if (here->find(short_for)) {
        here->names.erase(marker);
        here->items.erase(here->items.begin() + index);
      } else {
        *marker = short_for;
      }
    }
  }
  return {tree_, path(key)};
}

bool Settings::has(const std::string& key) const {
  const Setting* found = find(key);
  note(key, Tree::kAnything, {}, found ? *found : Setting{});
  return found != nullptr;
}

// ---- the whole ----

void Settings::set(const std::string& path_below, Setting value) {
  const std::string full = path(path_below);
  check_keys(value, full, tree_->name);
  make_way(tree_->root, full, tree_->name, value.origin) = std::move(value);
}

void Settings::refuse_unread() const {
  std::vector<std::string> refusals;
  tree_->add_unread(tree_->root, "", refusals);
  check(refusals.empty(), joined(refusals, "\n"));
}

Settings Settings::resolved() const {
  Settings all(Setting::map(), tree_->name);
  const std::string prefix = path("");
  for (const auto& question : tree_->asked) {
    if (question.value.form == Form::absent || !question.known.path.starts_with(prefix)) continue;
    all.set(question.known.path.substr(prefix.size()), question.value);
  }
  return all;
}

const Setting& Settings::written() const {
  static const Setting nothing = Setting::map();
  const Setting* found = tree_->find(path_);
  return found && found->form == Form::map ? *found : nothing;
}

std::vector<Settings::Known> Settings::known() const {
  std::vector<Known> all;
  const std::string prefix = path("");
  for (const auto& question : tree_->asked)
    if (question.known.path.starts_with(prefix)) all.push_back(question.known);
  return all;
}

}  // namespace heed
