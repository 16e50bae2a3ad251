#include "heed/data/recipe.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/yaml.h>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

using Form = Setting::Form;

constexpr const char* kMerge = "<<";

std::string read_whole(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  const auto refuse = [&] {
    fail("recipe: ", path, " cannot be read: ", std::generic_category().message(errno), "; expected a YAML file");
  };
  if (!file) refuse();
  std::string text;
  std::array<char, 4096> piece{};
  while (const size_t count = std::fread(piece.data(), 1, piece.size(), file.get())) text.append(piece.data(), count);
  if (std::ferror(file.get())) refuse();
  return text;
}

// ---- YAML to settings ----

/// Copies YAML nodes. Aliases can expand a small text into a huge or infinite tree, so size and depth are limited.
class RecipeReader {
 public:
  /// name: the file in messages, or "" for the command line, which has no lines.
  explicit RecipeReader(std::string name) : name_(std::move(name)) {}

  Setting read(const YAML::Node& node, const std::string& origin, int depth = 0) {
    constexpr int kMaxValues = 100'000, kMaxDepth = 50;
    check(++values_ < kMaxValues, "recipe: more than ", kMaxValues, " values", location(origin));
    check(depth < kMaxDepth, "recipe: more than ", kMaxDepth, " levels, or an alias inside its own anchor",
          location(origin));
    Setting setting;
    setting.origin = origin;
    if (node.IsScalar()) {
      setting.form = Form::scalar;
      setting.text = node.Scalar();
      setting.quoted = node.Tag() == "!";
    } else if (node.IsSequence()) {
      setting.form = Form::list;
      for (const auto& item : node) setting.items.push_back(read(item, origin_of(item), depth + 1));
    } else if (node.IsMap()) {
      setting.form = Form::map;
      read_map(node, setting, depth);
    }
    return setting;
  }

  std::string origin_of(const YAML::Node& node) const {
    return name_.empty() ? kCommandLine : name_ + ":" + std::to_string(node.Mark().line + 1);
  }

 private:
  void read_map(const YAML::Node& node, Setting& map, int depth) {
    Setting merged = Setting::map();
    for (const auto& pair : node) {
      const std::string origin = origin_of(pair.first);
      check(pair.first.IsScalar() || pair.first.IsNull(), "recipe: a key is a list or a map, expected a word",
            location(origin));
      Setting value = read(pair.second, origin, depth + 1);
      if (pair.first.IsScalar() && pair.first.Scalar() == kMerge) {
        merge(value, merged);
      } else {  // not at(): a duplicate key must be detected later
        map.names.push_back(pair.first.IsNull() ? "" : pair.first.Scalar());
        map.items.push_back(std::move(value));
      }
    }
    merge(merged, map);
  }

  /// Adds the keys that `into` does not have; with several maps the earlier one wins.
  static void merge(const Setting& from, Setting& into) {
    if (from.form == Form::list) {
      for (const auto& item : from.items) merge(item, into);
      return;
    }
    check(from.form == Form::map, "recipe: << has no map, expected one such as <<: *defaults", location(from.origin));
    for (size_t i = 0; i < from.names.size(); ++i)
      if (!into.find(from.names[i])) into.at(from.names[i]) = from.items[i];
  }

  static std::string location(const std::string& origin) { return " [" + origin + "]"; }

  std::string name_;
  int values_ = 0;
};

/// Records where a document begins and ignores its content.
class Beginning final : public YAML::EventHandler {
 public:
  YAML::Mark mark;

  void OnDocumentStart(const YAML::Mark& here) override { mark = here; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// The only document of a text. (LoadAll would count documents too, but does not terminate on ", a".)
YAML::Node load_one(const std::string& yaml) {
  std::istringstream stream(yaml);
  YAML::Parser parser(stream);
  Beginning beginning;
  if (parser.HandleNextDocument(beginning) && parser.HandleNextDocument(beginning))
    throw YAML::ParserException(beginning.mark, "got text before or after the document, expected one document");
  return YAML::Load(yaml);
}

/// Throws if a quote is not closed at the end. (yaml-cpp detects that only without a trailing line break.)
void check_quotes(const std::string& yaml) {
  const size_t last = yaml.find_last_not_of(" \t\r\n");
  load_one(yaml.substr(0, last + 1));
}

YAML::Node parse_yaml(const std::string& yaml, const std::string& name) {
  try {
    YAML::Node node = load_one(yaml);
    check_quotes(yaml);
    return node;
  } catch (const YAML::Exception& error) {
    const bool open_quote = error.msg == YAML::ErrorMsg::EOF_IN_SCALAR;
    fail("recipe: ", name, ":", error.mark.line + 1, ":", error.mark.column + 1, ": not YAML: ", error.msg,
         open_quote ? "; a quote is opened and never closed" : "");
  }
}

// ---- overrides ----

std::string trimmed(const std::string& text) {
  const char* const whitespace = " \t\r\n";
  const size_t first = text.find_first_not_of(whitespace);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(whitespace) - first + 1);
}

bool starts_like_yaml(const std::string& text) {
  return !text.empty() && std::string_view(R"([{"')").find(text.front()) != std::string::npos;
}

bool is_null_word(const std::string& text) {
  return text == "null" || text == "~" || text == "Null" || text == "NULL";
}

/// A value that is not YAML, such as the separator |||, is taken verbatim unless it starts with a bracket or a quote. A
/// plain scalar is verbatim too, including # and the rest: a command line has no comments.
Setting parse_value(const std::string& text, const std::string& whole) {
  Setting setting;
  try {
    setting = RecipeReader("").read(load_one(text), kCommandLine);
  } catch (const YAML::Exception& error) {
    check(!starts_like_yaml(text), "recipe: the value of '", excerpt(whole), "' is not YAML: ", error.msg,
          ", expected for example data.train=[a.en,a.de]");
    return Setting::scalar(text, kCommandLine);
  }
  const bool comment = setting.form == Form::absent && !is_null_word(text);
  const bool plain = setting.form == Form::scalar && !setting.quoted && text.front() != '!' && text.front() != '&';
  const bool block = text.front() == '|' || text.front() == '>';
  return comment || plain || block ? Setting::scalar(text, kCommandLine) : setting;
}

void apply(Settings& settings, const std::string& whole) {
  const size_t equal = whole.find('=');
  check(equal != std::string::npos && equal > 0, "recipe: got '", excerpt(whole),
        "', expected key.path=value, for example train.lr=0.001");
  check(first_invalid_utf8(whole) == std::string::npos, "recipe: '", excerpt(whole), "' is not UTF-8");
  const std::string key = whole.substr(0, equal), text = trimmed(whole.substr(equal + 1));
  check(!text.empty(), "recipe: got '", excerpt(whole), "' without a value, expected ", excerpt(key),
        "=value; null takes the default, '\"\"' is an empty text");
  settings.set(key, parse_value(text, whole));
}

// ---- settings to YAML ----

void emit(YAML::Emitter& out, const Setting& value) {
  if (value.form == Form::map) {
    if (value.names.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (size_t i = 0; i < value.names.size(); ++i) {
      out << YAML::Key << value.names[i] << YAML::Value;
      emit(out, value.items[i]);
    }
    out << YAML::EndMap;
  } else if (value.form == Form::list) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const auto& item : value.items) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.form == Form::scalar) {
    if (value.quoted) out << YAML::DoubleQuoted;
    out << value.text;
  } else {
    out << YAML::Null;
  }
}

}  // namespace

Settings parse_recipe(const std::string& yaml, const std::string& name, const std::vector<std::string>& overrides) {
  if (const size_t bad = first_invalid_utf8(yaml); bad != std::string::npos) {
    const auto line = 1 + std::count(yaml.begin(), yaml.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    fail("recipe: ", name, ":", line, ": not UTF-8, expected a YAML file");
  }
  const YAML::Node top = parse_yaml(yaml, name);
  check(top.IsDefined() && !top.IsNull(), "recipe: ", name,
        " is empty, expected keys and values such as\ntrain:\n  lr: 0.001");
  RecipeReader reader(name);
  Settings settings(reader.read(top, reader.origin_of(top)));
  for (const auto& whole : overrides) apply(settings, whole);
  return settings;
}

Settings read_recipe(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_recipe(read_whole(path), path, overrides);
}

std::string recipe_yaml(const Settings& settings) {
  YAML::Emitter out;
  emit(out, settings.written());
  return std::string(out.c_str()) + "\n";
}

}  // namespace heed
