#include "heed/metrics/wordnet.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed {
namespace {

struct FormRule {
  std::string_view suffix, replacement;
};

std::span<const FormRule> form_rules(const std::string& part_of_speech) {
  static constexpr std::array kNoun{FormRule{"s", ""},      FormRule{"ses", "s"},   FormRule{"ves", "f"},
                                    FormRule{"xes", "x"},   FormRule{"zes", "z"},   FormRule{"ches", "ch"},
                                    FormRule{"shes", "sh"}, FormRule{"men", "man"}, FormRule{"ies", "y"}};
  static constexpr std::array kVerb{FormRule{"s", ""},    FormRule{"ies", "y"}, FormRule{"es", "e"},
                                    FormRule{"es", ""},   FormRule{"ed", "e"},  FormRule{"ed", ""},
                                    FormRule{"ing", "e"}, FormRule{"ing", ""}};
  static constexpr std::array kAdjective{FormRule{"er", ""}, FormRule{"est", ""}, FormRule{"er", "e"},
                                         FormRule{"est", "e"}};
  if (part_of_speech == "noun") return kNoun;
  if (part_of_speech == "verb") return kVerb;
  if (part_of_speech == "adj") return kAdjective;
  return {};
}

/// The next field of a line, separated by spaces; empty at its end.
std::string_view next_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  const auto field = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(field.size());
  return field;
}

/// The fields of a line of a file.
class Fields {
 public:
  Fields(std::string_view line, const std::string& path, const std::string& text)
      : line_(line), rest_(line), path_(path), text_(text) {}

  std::string_view next() {
    const auto field = next_field(rest_);
    if (field.empty()) fail(where(), "got the end of the line, expected more fields, as in WordNet 3.0");
    return field;
  }
  void skip(size_t count) {
    for (; count > 0; --count) next();
  }
  size_t number(int base = 10) {
    const auto field = next();
    size_t value = 0;
    const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value, base);
    const bool whole = status == std::errc() && end == field.data() + field.size();
    if (!whole) fail(where(), "got \"", excerpt(field), "\", expected a number, as in WordNet 3.0");
    return value;
  }

 private:
  std::string where() const {
    const auto lines = std::count(text_.data(), line_.data(), '\n');
    return "metrics/wordnet: " + path_ + ":" + std::to_string(lines + 1) + ": ";
  }

  std::string_view line_, rest_;
  const std::string& path_;
  const std::string& text_;
};

/// Calls `use` with each line that is not a comment; those begin with a space.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin && text[begin] != ' ') use(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// "galore(ip)" -> "galore"
std::string_view without_syntactic_marker(std::string_view lemma) {
  return lemma.ends_with(')') ? lemma.substr(0, lemma.find('(')) : lemma;
}

void append_new(std::vector<std::string>& all, std::string item) {
  if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(std::move(item));
}

/// What each rule makes of each form.
std::vector<std::string> with_rules_applied(const std::vector<std::string>& forms, std::span<const FormRule> rules) {
  std::vector<std::string> all;
  for (const auto& form : forms)
    for (const auto& [suffix, replacement] : rules)
      if (form.ends_with(suffix)) append_new(all, form.substr(0, form.size() - suffix.size()).append(replacement));
  return all;
}

}  // namespace

WordNet::WordNet(const std::string& folder) {
  constexpr std::array kPartsOfSpeech{"noun", "verb", "adj", "adv"};
  for (size_t i = 0; i < dictionaries_.size(); ++i) {
    dictionaries_[i].part_of_speech = kPartsOfSpeech[i];
    read(dictionaries_[i], folder);
  }
}

WordNet::File WordNet::file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  check(stream.good(), "metrics/wordnet: got no file ", path,
        ", expected the files of WordNet 3.0; install wordnet-base, or set WNSEARCHDIR to their folder");
  return {path, {std::istreambuf_iterator<char>(stream), {}}};
}

void WordNet::read(Dictionary& dictionary, const std::string& folder) {
  const auto& name = dictionary.part_of_speech;
  dictionary.index = file(folder + "/index." + name);
  dictionary.data = file(folder + "/data." + name);
  dictionary.exceptions = file(folder + "/" + name + ".exc");
  for_each_line(dictionary.index.text, [&](std::string_view line) {
    auto rest = line;
    const auto lemma = next_field(rest);
    dictionary.entries[lemma] = line;
    dictionary.longest = std::max(dictionary.longest, lemma.size());
  });
  for_each_line(dictionary.exceptions.text, [&](std::string_view line) {
    auto lemmas_of_form = line;
    const auto form = next_field(lemmas_of_form);
    dictionary.irregular[form] = lemmas_of_form;
  });
}

std::vector<std::string> WordNet::lemmas(std::string_view word, const Dictionary& dictionary) {
  const auto known = [&](const std::vector<std::string>& forms) {
    std::vector<std::string> all;
    for (const auto& form : forms)
      if (form.size() <= dictionary.longest && dictionary.entries.contains(form)) append_new(all, form);
    return all;
  };
  std::vector<std::string> forms{std::string(word)};
  if (const auto found = dictionary.irregular.find(word); found != dictionary.irregular.end()) {
    auto rest = found->second;
    for (auto lemma = next_field(rest); !lemma.empty(); lemma = next_field(rest)) forms.emplace_back(lemma);
    return known(forms);
  }
  const auto rules = form_rules(dictionary.part_of_speech);
  auto derived = with_rules_applied(forms, rules);
  forms.insert(forms.end(), derived.begin(), derived.end());
  auto all = known(forms);
  while (all.empty() && !derived.empty()) {
    derived = with_rules_applied(derived, rules);
    all = known(derived);
  }
  return all;
}

void WordNet::add_synonyms(const std::string& lemma, const Dictionary& dictionary, std::vector<std::string>& all) {
  const auto& [data_path, data] = dictionary.data;
  Fields entry(dictionary.entries.at(lemma), dictionary.index.path, dictionary.index.text);
  entry.skip(2);  // lemma, part of speech
  const size_t synsets = entry.number();
  entry.skip(entry.number() + 2);  // pointers; numbers of senses and of ranked senses
  for (size_t i = 0; i < synsets; ++i) {
    const size_t offset = entry.number();
    check(offset < data.size() && (offset == 0 || data[offset - 1] == '\n'), "metrics/wordnet: ", data_path,
          ": got no line at byte ", offset, ", where ", dictionary.index.path, " has a synset of \"", lemma,
          "\"; expected files of the same version");
    Fields synset(std::string_view(data).substr(offset, data.find('\n', offset) - offset), data_path, data);
    synset.skip(3);  // offset, lexicographer file, part of speech
    for (size_t count = synset.number(16); count > 0; --count) {
      const auto name = without_syntactic_marker(synset.next());
      if (name.find('_') == std::string_view::npos) all.emplace_back(name);
      synset.skip(1);  // sense in the lexicographer file
    }
  }
}

std::vector<std::string> WordNet::lemmas(std::string_view word, const std::string& part_of_speech) const {
  for (const auto& dictionary : dictionaries_)
    if (dictionary.part_of_speech == part_of_speech) return lemmas(word, dictionary);
  fail("metrics/wordnet: got the part of speech \"", part_of_speech, "\", expected noun, verb, adj or adv");
}

std::vector<std::string> WordNet::synonyms(std::string_view word) const {
  std::vector<std::string> all;
  for (const auto& dictionary : dictionaries_)
    for (const auto& lemma : lemmas(word, dictionary)) add_synonyms(lemma, dictionary, all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::optional<std::string> wordnet_folder() {
  const char* given = std::getenv("WNSEARCHDIR");
  const std::string folder = given != nullptr && *given != '\0' ? given : "/usr/share/wordnet";
  if (std::filesystem::is_directory(folder)) return folder;
  check(given == nullptr || *given == '\0', "metrics/wordnet: got no folder ", folder,
        " in WNSEARCHDIR, expected that of WordNet's files; unset it, or install wordnet-base");
  return std::nullopt;
}

}  // namespace heed
