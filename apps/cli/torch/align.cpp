// heed align: word alignment from the attention of a translator under forced decoding of the given translation.

#include <iostream>
#include <memory>

#include "apps/cli/align_options.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/lengths.h"
#include "apps/cli/torch/vocabulary_report.h"

#include "heed/base/links.h"
#include "heed/data/text_file.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

struct TextFile {
  std::string path;
  std::vector<std::string> lines;
};

/// Attention weights of each target word over the source words, one matrix per line.
std::vector<WeightRows> weights_of(const std::string& run, const TextFile& from, const TextFile& to,
                                   const AlignArguments& a) {
  Translator translator = Translator::load(run, device_of(a.device));
  check(translator.model().aligns(), "align: the model in ", run,
        " has no attention, so it cannot align words; expected a model with attention");
  check_source_lengths(translator, from.lines, {from.path, 1}, a.max_length);
  check_target_lengths(translator, to.lines, {to.path, 1}, a.max_length);
  VocabularyReport vocabulary("align", run, VocabularyReport::Unspaced::kept);  // links number the words as given
  vocabulary.read_source(translator, from.lines);
  vocabulary.read_target(translator, to.lines);
  vocabulary.print(std::cerr);
  std::vector<WeightRows> all;
  for (auto& scored : translator.score(from.lines, to.lines)) all.push_back(std::move(scored.weights));
  return all;
}

Links links_of(const WeightRows& forward, const WeightRows& backward, const AlignArguments& a) {
  if (a.symmetry == kProduct) return mutual_links(agreement(forward, backward));
  return symmetrized(strongest_links(forward, a.threshold), swapped(strongest_links(backward, a.threshold)),
                     parse_symmetry(a.symmetry));
}

void run_align(const AlignArguments& a) {
  const TextFile source{a.source, read_lines(a.source)}, target{a.target, read_lines(a.target)};
  check(source.lines.size() == target.lines.size(), "align: ", a.source, " has ", source.lines.size(), " lines, ",
        a.target, " has ", target.lines.size(), "; expected the same number of lines");
  if (a.symmetry != kProduct) parse_symmetry(a.symmetry);
  check(a.reverse.empty() || a.symmetry != kProduct || a.threshold == 0, "align: --threshold is ", a.threshold,
        ", but --symmetry product takes no threshold; use another --symmetry, or leave --threshold out");
  const auto forward = weights_of(a.run, source, target, a);
  if (a.reverse.empty()) {
    for (const auto& weights : forward) std::cout << pharaoh(strongest_links(weights, a.threshold)) << '\n';
    return;
  }
  const auto backward = weights_of(a.reverse, target, source, a);
  for (size_t i = 0; i < forward.size(); ++i) try {
      std::cout << pharaoh(links_of(forward[i], backward[i], a)) << '\n';
    } catch (const Error& error) {
      fail("align: line ", i + 1, " of ", a.source, " and ", a.target, ": ", error.what());
    }
}

const Body align_body{"align", run_align};

}  // namespace
}  // namespace heed::cli
