// Keys of a recipe, each declared once: name, kind, default, range or choices, and one sentence. A table of keys reads
// a map of the recipe into a struct, and lists itself for `heed list` and docs/recipes.md:
//
//   struct EmbeddingValues {
//     int64_t dim = 256;
//     double dropout = 0.1;
//   };
//   const RecipeTable<EmbeddingValues> embedding_keys{
//       {"dim", &EmbeddingValues::dim, "width of the embeddings", {.min = 1, .max = 65536}},
//       {"dropout", &EmbeddingValues::dropout, "dropout on the embeddings", {.min = 0, .max = 0.99}}};
//   const EmbeddingValues values = embedding_keys.read(recipe.at("model").at("embedding"));
//
// The default of a key is its value in a new struct, or in the struct that is passed to read(). The kind of a key is
// the type of its field: whole number, number, true | false, text (or one of the choices), list of texts.

#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/settings.h"

namespace heed {

/// A key as it is listed.
struct RecipeKey {
  std::string name;           // below its map: "lr"
  std::string kind;           // "whole number", "number", "true | false", "text", "gru | lstm", ...
  std::string default_value;  // as written in YAML, or a description: "that of model.embedding.dropout"
  std::string range;          // "0 <= dropout <= 0.99"; empty: any
  std::string sentence;
  bool operator==(const RecipeKey&) const = default;
};
using RecipeKeyList = std::vector<RecipeKey>;

/// The keys of all lists, in order.
RecipeKeyList all_keys(std::initializer_list<RecipeKeyList> lists);

/// What a value may be, and the text of a default that is computed.
struct KeyLimits {
  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices{};  // of a text; empty: any text
  std::string default_text{};          // shown in lists instead of the default
};

/// Reads a key into `value`, which holds the default. Throws Error if the value has the wrong kind or is out of range.
void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, int64_t& value);
void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, double& value);
void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, bool& value);
void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits, std::string& value);
void read_key(const Settings& settings, const std::string& name, const KeyLimits& limits,
              std::vector<std::string>& value);

/// The key as it is listed, without its sentence.
RecipeKey listed_key(const std::string& name, const KeyLimits& limits, int64_t default_value);
RecipeKey listed_key(const std::string& name, const KeyLimits& limits, double default_value);
RecipeKey listed_key(const std::string& name, const KeyLimits& limits, bool default_value);
RecipeKey listed_key(const std::string& name, const KeyLimits& limits, const std::string& default_value);
RecipeKey listed_key(const std::string& name, const KeyLimits& limits, const std::vector<std::string>& default_value);

template <typename Values>
class RecipeTable {
 public:
  /// T: int64_t, double, bool, std::string or std::vector<std::string>.
  struct Key {
    template <typename T>
    Key(const std::string& name, T Values::*field, const std::string& sentence, const KeyLimits& limits = {})
        : read([=](const Settings& settings, Values& values) { read_key(settings, name, limits, values.*field); }),
          list([=](const Values& defaults) {
            RecipeKey key = listed_key(name, limits, defaults.*field);
            key.sentence = sentence;
            return key;
          }) {}
    std::function<void(const Settings&, Values&)> read;
    std::function<RecipeKey(const Values&)> list;
  };

  RecipeTable(std::initializer_list<Key> keys) : keys_(keys) {}

  /// The values of a map of the recipe; `values` holds the defaults.
  Values read(const Settings& settings, Values values = {}) const {
    for (const auto& key : keys_) key.read(settings, values);
    return values;
  }

  RecipeKeyList list(const Values& defaults = {}) const {
    RecipeKeyList all;
    for (const auto& key : keys_) all.push_back(key.list(defaults));
    return all;
  }

 private:
  std::vector<Key> keys_;
};

/// The keys of one map of a recipe that belong to no component of a model. Several entries may have the same path;
/// their orders differ.
struct RecipeSection {
  std::string path;         // "train"; empty: the top
  int order = 0;            // in lists
  std::string sentence;     // on the map; of the entry that comes first
  RecipeKeyList (*keys)();  // called after all files are initialized
  std::string task{};       // that has these keys; empty: every task

  /// One section for each path and task, in order, with the keys of all its entries.
  struct Listed {
    std::string path, task, sentence;
    RecipeKeyList keys;
  };
  static std::vector<Listed> all();

  /// Enters a section; one static object in the file that reads the keys.
  struct Entry {
    explicit Entry(const RecipeSection& section);
  };
};

}  // namespace heed
