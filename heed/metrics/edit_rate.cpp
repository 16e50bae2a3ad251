#include "heed/metrics/edit_rate.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/text.h"

namespace heed {
namespace {

using Items = std::vector<std::string>;

/// Two or more characters of whitespace become one space.
std::u32string with_single_spaces(const std::u32string& text) {
  std::u32string all;
  for (size_t i = 0, end = 0; i < text.size(); i = end) {
    for (end = i; end < text.size() && is_whitespace(text[end]);) ++end;
    if (end - i > 1) {
      all += U' ';
    } else {
      end = i + 1;
      all += text[i];
    }
  }
  return all;
}

Items split_at_spaces(const std::string& text) {
  Items all;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) all.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

Items words_of(const std::string& line) {
  return split_at_spaces(std::string(without_outer_whitespace(encoded(with_single_spaces(decoded(line))))));
}

Items characters_of(const std::string& line) {
  Items all;
  for (const char32_t c : decoded(without_outer_whitespace(line))) all.push_back(encoded(c));
  return all;
}

Items phones_of(const std::string& line, const PhoneFold& fold) {
  Items all;
  for (auto& phone : split_words(line)) {
    const auto found = fold.find(phone);
    if (found == fold.end()) {
      all.push_back(std::move(phone));
    } else if (!found->second.empty()) {
      all.push_back(found->second);
    }
  }
  return all;
}

/// Numbers for the items of both sides of one sentence.
class Numbering {
 public:
  Symbols symbols(const Items& items) {
    Symbols all;
    all.reserve(items.size());
    for (const auto& item : items)
      all.push_back(numbers_.try_emplace(item, static_cast<int32_t>(numbers_.size())).first->second);
    return all;
  }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
};

PhoneFold folded_to(const std::vector<std::pair<std::string, std::string>>& groups) {
  PhoneFold fold;
  for (const auto& [phone, members] : groups)
    for (auto& member : split_words(members)) fold.emplace(std::move(member), phone);
  return fold;
}

}  // namespace

const PhoneFold& timit_fold() {
  static const PhoneFold fold = folded_to({{"aa", "ao"},
                                           {"ah", "ax ax-h"},
                                           {"er", "axr"},
                                           {"hh", "hv"},
                                           {"ih", "ix"},
                                           {"l", "el"},
                                           {"m", "em"},
                                           {"n", "en nx"},
                                           {"ng", "eng"},
                                           {"sh", "zh"},
                                           {"uw", "ux"},
                                           {"sil", "bcl dcl gcl pcl tcl kcl epi pau h#"},
                                           {"", "q"}});
  return fold;
}

double edit_rate_of(const EditCounts& counts) {
  const auto edits = static_cast<double>(counts.edits());
  return counts.reference_length() == 0 ? edits : edits / static_cast<double>(counts.reference_length());
}

std::vector<std::string> edit_items(const std::string& line, EditUnit unit, const PhoneFold& fold) {
  if (unit == EditUnit::word) return words_of(line);
  if (unit == EditUnit::character) return characters_of(line);
  return phones_of(line, fold);
}

EditRate edit_rate(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
                   EditUnit unit, const PhoneFold& fold) {
  check_corpus("edit_rate", hypotheses, {references});
  check(fold.empty() || unit == EditUnit::phone, "metrics/edit_rate: got a fold of ", fold.size(),
        " phones, expected none; only phones are folded");
  EditRate all;
  all.sentences.reserve(references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    Numbering numbers;
    const Symbols theirs = numbers.symbols(edit_items(references[i], unit, fold));
    all.sentences.push_back(edit_counts(numbers.symbols(edit_items(hypotheses[i], unit, fold)), theirs));
    all.counts += all.sentences.back();
  }
  all.rate = edit_rate_of(all.counts);
  return all;
}

}  // namespace heed
