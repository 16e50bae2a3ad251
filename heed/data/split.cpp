#include "heed/data/split.h"

#include <algorithm>
#include <string>

#include "heed/base/recipe_keys.h"
#include "heed/base/scalar.h"

namespace heed {
namespace {

const RecipeTable<Split> split_keys{
    {"modulo",
     &Split::modulo,
     "dev and test are taken out of the training file, by the md5 of the text (in translation of the source) modulo "
     "this; 0: they are files",
     {.min = 0, .max = 1 << 20}}};

struct SplitValues {
  std::vector<std::string> dev, test;
};

const RecipeTable<SplitValues> residue_keys{
    {"dev", &SplitValues::dev, "residues of the development set", {.default_text = "required"}},
    {"test", &SplitValues::test, "residues of the test set", {.default_text = "none"}}};

const RecipeSection::Entry split_section{{"data.split", 14, "Sets out of one file.", [] {
                                            return all_keys({split_keys.list(), residue_keys.list()});
                                          }}};

bool contains(const std::vector<int64_t>& all, int64_t residue) {
  return std::find(all.begin(), all.end(), residue) != all.end();
}

std::vector<int64_t> residues(const Settings& split, const std::string& key, const std::vector<std::string>& texts,
                              int64_t modulo) {
  std::vector<int64_t> all;
  for (const auto& text : texts) {
    int64_t value = -1;
    if (!read_integer(text, value) || value < 0 || value >= modulo)
      split.refuse(key, "has '", text, "', expected whole numbers from 0 to ", modulo - 1, " (data.split.modulo - 1)");
    all.push_back(value);
  }
  return all;
}

}  // namespace

std::vector<int64_t> Split::train() const {
  std::vector<int64_t> rest;
  for (int64_t residue = 0; residue < modulo; ++residue)
    if (!contains(dev, residue) && !contains(test, residue)) rest.push_back(residue);
  return rest;
}

Split read_split(const Settings& data) {
  const Settings settings = data.at("split");
  Split split = split_keys.read(settings);
  if (split.modulo == 0) return split;
  const SplitValues values = residue_keys.read(settings);
  split.dev = residues(settings, "dev", values.dev, split.modulo);
  split.test = residues(settings, "test", values.test, split.modulo);
  if (split.dev.empty()) settings.refuse("dev", "is missing, expected residues such as [2]");
  for (const int64_t residue : split.test)
    if (contains(split.dev, residue))
      settings.refuse("test", "has ", residue, ", which data.split.dev has too; expected others");
  return split;
}

}  // namespace heed
