#include "apps/cli/eval_metric/label_files.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/text_file.h"
#include "heed/metrics/text.h"

namespace heed::cli {
namespace {

/// The labels of one file, as numbers in the order in which labels occur.
class LabelNumbering {
 public:
  LabelFiles::Examples read(const std::string& path, const std::vector<std::string>& lines) {
    LabelFiles::Examples all;
    for (size_t i = 0; i < lines.size(); ++i) {
      check_plain(path, i, lines[i]);
      all.push_back(labels_of(path, i, lines[i]));
    }
    return all;
  }

  /// The labels, sorted; and the rank of each number in them.
  std::vector<std::string> sorted_labels() const {
    std::vector<std::string> all;
    for (const auto& [label, number] : numbers_) all.push_back(label);
    return all;
  }
  std::vector<size_t> ranks() const {
    std::vector<size_t> all(numbers_.size());
    size_t rank = 0;
    for (const auto& [label, number] : numbers_) all[number] = rank++;
    return all;
  }

 private:
  LabelFiles::Labels labels_of(const std::string& path, size_t index, const std::string& line) {
    LabelFiles::Labels labels;
    if (without_outer_whitespace(line).empty()) return labels;
    for (const auto& field : fields_of(line, ',')) {
      const std::string label(without_outer_whitespace(field));
      check(!label.empty(), at_line(path, index), "got an empty label in '", excerpt(line),
            "', expected labels separated by single commas");
      const size_t number = numbers_.emplace(label, numbers_.size()).first->second;
      check(std::find(labels.begin(), labels.end(), number) == labels.end(), at_line(path, index), "got the label '",
            excerpt(label), "' twice, expected each label of an example once");
      labels.push_back(number);
    }
    return labels;
  }

  std::map<std::string, size_t> numbers_;
};

void renumber(LabelFiles::Examples& examples, const std::vector<size_t>& ranks) {
  for (auto& labels : examples) {
    for (auto& label : labels) label = ranks[label];
    std::sort(labels.begin(), labels.end());
  }
}

void check_single(const std::string& path, const LabelFiles::Examples& examples, const std::string& metric) {
  for (size_t i = 0; i < examples.size(); ++i)
    check(examples[i].size() == 1, at_line(path, i), "got ", examples[i].size(), " labels, expected 1 for ", metric,
          "; precision, recall, f1, subset_accuracy and hamming_loss take any number");
}

}  // namespace

LabelFiles::LabelFiles(const FileMetricOptions& options, FileReader& reader) {
  check_one_reference("labels", options.references.size());
  const auto lines = read_lines_of(options, reader, "a label");
  LabelNumbering numbering;
  gold = numbering.read(options.references.front(), lines.references.front());
  for (size_t i = 0; i < lines.systems.size(); ++i)
    systems.push_back(numbering.read(options.hypotheses[i], lines.systems[i]));
  classes = numbering.sorted_labels();
  check(!classes.empty(), "eval: got no label in ", joined(options.references), " and ", joined(options.hypotheses),
        ", expected one on each line, or several separated by commas");
  const auto ranks = numbering.ranks();
  renumber(gold, ranks);
  for (auto& examples : systems) renumber(examples, ranks);
}

std::vector<size_t> LabelFiles::outputs_of(size_t system) const {
  std::vector<size_t> all(examples());
  std::iota(all.begin(), all.end(), system * examples());
  return all;
}

std::vector<HitCounts> LabelFiles::counts(std::span<const size_t> outputs) const {
  std::vector<HitCounts> all(classes.size());
  for (const size_t number : outputs) {
    const Labels &ours = output(number), &theirs = gold_of(number);
    for (const size_t label : theirs) ++all[label].gold;
    for (const size_t label : ours) {
      ++all[label].predicted;
      all[label].hits += std::binary_search(theirs.begin(), theirs.end(), label) ? 1 : 0;
    }
  }
  return all;
}

std::vector<HitCounts> LabelFiles::counts_of_present(std::span<const size_t> outputs) const {
  auto all = counts(outputs);
  std::erase_if(all, [](const HitCounts& one) { return one.predicted + one.gold == 0; });
  return all;
}

HitCounts hits_of(const LabelFiles::Labels& predicted, const LabelFiles::Labels& gold) {
  HitCounts counts{.predicted = static_cast<int64_t>(predicted.size()), .gold = static_cast<int64_t>(gold.size())};
  for (const size_t label : predicted) counts.hits += std::binary_search(gold.begin(), gold.end(), label) ? 1 : 0;
  return counts;
}

void check_single_labels(const LabelFiles& files, const FileMetricOptions& options, const std::string& metric) {
  check_single(options.references.front(), files.gold, metric);
  for (size_t i = 0; i < files.systems.size(); ++i) check_single(options.hypotheses[i], files.systems[i], metric);
}

}  // namespace heed::cli
