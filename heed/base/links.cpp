#include "heed/base/links.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"

namespace heed {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";

[[noreturn]] void refuse(std::string_view text) {
  fail("base/links: '", excerpt(text),
       "' is no link; expected source-target, or source'p'target for a possible one: 0-0, 2p1");
}

/// Parses the number at the start of `rest` and removes it.
int64_t take_number(std::string_view& rest, std::string_view whole) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (problem != std::errc() || number < 0) refuse(whole);
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return number;
}

Link parse_link(std::string_view text, LinkNumbers numbers) {
  std::string_view rest = text;
  Link link;
  link.source = take_number(rest, text);
  if (rest.empty() || (rest[0] != '-' && rest[0] != 'p')) refuse(text);
  link.sure = rest[0] == '-';
  rest.remove_prefix(1);
  link.target = take_number(rest, text);
  if (!rest.empty()) refuse(text);
  if (numbers.swapped) std::swap(link.source, link.target);
  if (!numbers.from_one) return link;
  check(link.source > 0 && link.target > 0, "base/links: '", excerpt(text),
        "' has a word 0, but words are said to be numbered from 1");
  return {link.source - 1, link.target - 1, link.sure};
}

// An entry of the alignment matrix. Sets of them are sorted by target first, the order in which Moses visits them.
using LinkPoint = std::pair<int64_t, int64_t>;  // target, source
using LinkPoints = std::set<LinkPoint>;

LinkPoints link_points(const Links& links) {
  LinkPoints all;
  for (const auto& link : links) all.emplace(link.target, link.source);
  return all;
}

LinkPoints common(const LinkPoints& one, const LinkPoints& other) {
  LinkPoints both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::inserter(both, both.end()));
  return both;
}

/// A growing set of links, and the words that they cover.
class Growing {
 public:
  explicit Growing(const LinkPoints& start) {
    for (const auto& point : start) add(point);
  }

  void add(const LinkPoint& point) {
    points_.insert(point);
    targets_.insert(point.first);
    sources_.insert(point.second);
  }
  bool covers_either(const LinkPoint& p) const { return targets_.contains(p.first) || sources_.contains(p.second); }
  bool covers_both(const LinkPoint& p) const { return targets_.contains(p.first) && sources_.contains(p.second); }

  /// Adds candidates that neighbor a link and cover a new word, until there are none.
  void grow_diag(const LinkPoints& candidates) {
    static constexpr std::array<LinkPoint, 8> kNeighbors{
        {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
    for (bool added = true; added;) {
      added = false;
      for (const auto& [target, source] : points_)  // also visits later entries that are added in this round
        for (const auto& [down, right] : kNeighbors) {
          const LinkPoint point{target + down, source + right};
          if (!candidates.contains(point) || covers_both(point)) continue;
          add(point);
          added = true;
        }
    }
  }

  /// Adds candidates that cover a new word; strict: two new words.
  void finish(const LinkPoints& candidates, bool strict) {
    for (const auto& point : candidates)
      if (strict ? !covers_either(point) : !covers_both(point)) add(point);
  }

  const LinkPoints& all() const { return points_; }

 private:
  LinkPoints points_;
  std::set<int64_t> targets_, sources_;
};

LinkPoints grown(const LinkPoints& forward, const LinkPoints& backward, Symmetry how) {
  LinkPoints either = forward;
  either.insert(backward.begin(), backward.end());
  Growing growing(common(forward, backward));
  growing.grow_diag(either);
  if (how == Symmetry::grow_diag) return growing.all();
  for (const auto* direction : {&forward, &backward})
    growing.finish(*direction, /*strict=*/how == Symmetry::grow_diag_final_and);
  return growing.all();
}

LinkPoints combined(const LinkPoints& forward, const LinkPoints& backward, Symmetry how) {
  switch (how) {
    case Symmetry::forward:
      return forward;
    case Symmetry::backward:
      return backward;
    case Symmetry::intersection:
      return common(forward, backward);
    case Symmetry::either: {
      LinkPoints either = forward;
      either.insert(backward.begin(), backward.end());
      return either;
    }
    case Symmetry::grow_diag:
    case Symmetry::grow_diag_final:
    case Symmetry::grow_diag_final_and:
      return grown(forward, backward, how);
  }
  fail("base/links: no such symmetry");
}

int64_t count_words(const std::vector<int64_t>& words) {
  const auto last = std::max_element(words.begin(), words.end());
  return last == words.end() ? 0 : *last + 1;
}

}  // namespace

Links parse_links(std::string_view line, LinkNumbers numbers) {
  Links links;
  while (true) {
    const size_t begin = line.find_first_not_of(kWhitespace);
    if (begin == std::string_view::npos) return links;
    line.remove_prefix(begin);
    const size_t length = std::min(line.find_first_of(kWhitespace), line.size());
    links.push_back(parse_link(line.substr(0, length), numbers));
    line.remove_prefix(length);
  }
}

std::string pharaoh(const Links& links) {
  std::vector<std::string> words;
  words.reserve(links.size());
  for (const auto& link : links)
    words.push_back(std::to_string(link.source) + (link.sure ? '-' : 'p') + std::to_string(link.target));
  return joined(words, " ");
}

Links swapped(Links links) {
  for (auto& link : links) std::swap(link.source, link.target);
  return links;
}

bool has_word_zero(const std::vector<Links>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const Links& links) {
    return std::any_of(links.begin(), links.end(),
                       [](const Link& link) { return link.source == 0 || link.target == 0; });
  });
}

int64_t remove_out_of_range(Links& links, size_t source_words, size_t target_words) {
  return static_cast<int64_t>(std::erase_if(links, [&](const Link& link) {
    return link.source >= static_cast<int64_t>(source_words) || link.target >= static_cast<int64_t>(target_words);
  }));
}

std::vector<std::string> symmetry_names() {
  return {"forward", "backward", "intersection", "union", "grow_diag", "grow_diag_final", "grow_diag_final_and"};
}

Symmetry parse_symmetry(const std::string& word) {
  std::string plain = word;
  std::replace(plain.begin(), plain.end(), '-', '_');
  const auto known = symmetry_names();
  const auto found = std::find(known.begin(), known.end(), plain);
  check(found != known.end(), "base/links: no symmetry called '", excerpt(word), "'", suggestion(plain, known),
        "; known: ", joined(known));
  return static_cast<Symmetry>(found - known.begin());
}

Links symmetrized(const Links& forward, const Links& backward, Symmetry how) {
  Links links;
  for (const auto& [target, source] : combined(link_points(forward), link_points(backward), how))
    links.push_back({source, target});
  std::sort(links.begin(), links.end());
  return links;
}

Links strongest_links(const WeightRows& weights, double threshold) {
  Links links;
  for (size_t target = 0; target < weights.size(); ++target) {
    const auto& row = weights[target];
    for (size_t source = 0; source < row.size(); ++source)
      check(!std::isnan(row[source]), "base/links: got NaN as the weight of source word ", source, " for target word ",
            target, ", expected a number");
    const auto best = std::max_element(row.begin(), row.end());
    if (best != row.end() && *best > threshold) links.push_back({best - row.begin(), static_cast<int64_t>(target)});
  }
  std::sort(links.begin(), links.end());
  return links;
}

WeightRows agreement(const WeightRows& forward, const WeightRows& backward) {
  WeightRows both = forward;
  for (size_t target = 0; target < both.size(); ++target) {
    check(both[target].size() == backward.size(), "links: ", both[target].size(), " source words one way, ",
          backward.size(), " the other; expected the same sentence");
    for (size_t source = 0; source < backward.size(); ++source) {
      check(backward[source].size() == both.size(), "links: ", both.size(), " target words one way, ",
            backward[source].size(), " the other; expected the same sentence");
      both[target][source] *= backward[source][target];
    }
  }
  return both;
}

Links mutual_links(const WeightRows& weights) {
  Links mutual;
  for (const Link& link : strongest_links(weights)) {
    const auto source = static_cast<size_t>(link.source), target = static_cast<size_t>(link.target);
    bool strongest = true;
    for (size_t other = 0; other < weights.size(); ++other)
      strongest = strongest && (other < target ? weights[other][source] < weights[target][source]
                                               : weights[other][source] <= weights[target][source]);
    if (strongest) mutual.push_back(link);
  }
  return mutual;
}

WeightRows merged_to_words(const WeightRows& pieces, const std::vector<int64_t>& source_words,
                           const std::vector<int64_t>& target_words) {
  check(pieces.size() == target_words.size(), "base/links: weights for ", pieces.size(), " target pieces, words for ",
        target_words.size());
  WeightRows words(static_cast<size_t>(count_words(target_words)),
                   std::vector<double>(static_cast<size_t>(count_words(source_words))));
  for (size_t t = 0; t < pieces.size(); ++t) {
    check(pieces[t].size() == source_words.size(), "base/links: weights for ", pieces[t].size(),
          " source pieces, words for ", source_words.size());
    if (target_words[t] < 0) continue;
    const auto rows = static_cast<double>(std::count(target_words.begin(), target_words.end(), target_words[t]));
    for (size_t s = 0; s < source_words.size(); ++s)
      if (source_words[s] >= 0)
        words[static_cast<size_t>(target_words[t])][static_cast<size_t>(source_words[s])] += pieces[t][s] / rows;
  }
  return words;
}

}  // namespace heed
