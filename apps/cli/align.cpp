// heed align: which word belongs to which, from the attention of a translator that is shown both sides.

#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/device.h"
#include "apps/cli/lengths.h"

#include "heed/base/links.h"
#include "heed/data/text_file.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

/// Besides the heuristics on links: the strongest pairs of the product of both directions' weights.
constexpr const char* kProduct = "product";

struct Arguments {
  std::string run, source, target, reverse, symmetry = kProduct, device = "auto";
  double threshold = 0;
  int64_t max_length = kMaxTokens;
};

struct TextFile {
  std::string path;
  std::vector<std::string> lines;
};

/// How each target word looked at the source words.
std::vector<WeightRows> weights_of(const std::string& run, const TextFile& from, const TextFile& to,
                                   const Arguments& a) {
  Translator translator = Translator::load(run, device_of(a.device));
  check(translator.model().aligns(), "align: the model in ", run,
        " has one context for all words, so it aligns none; expected one with attention");
  check_source_lengths(translator, from.lines, {from.path, 1}, a.max_length);
  check_target_lengths(translator, to.lines, {to.path, 1}, a.max_length);
  std::vector<WeightRows> all;
  for (auto& scored : translator.score(from.lines, to.lines)) all.push_back(std::move(scored.weights));
  return all;
}

Links links_of(const WeightRows& forward, const WeightRows& backward, const Arguments& a) {
  if (a.symmetry == kProduct) return mutual_links(agreement(forward, backward));
  return symmetrized(strongest_links(forward, a.threshold), swapped(strongest_links(backward, a.threshold)),
                     parse_symmetry(a.symmetry));
}

void run(const Arguments& a) {
  const TextFile source{a.source, read_lines(a.source)}, target{a.target, read_lines(a.target)};
  check(source.lines.size() == target.lines.size(), "align: ", a.source, " has ", source.lines.size(), " lines, ",
        a.target, " has ", target.lines.size(), "; expected as many of both");
  if (a.symmetry != kProduct) parse_symmetry(a.symmetry);
  check(a.reverse.empty() || a.symmetry != kProduct || a.threshold == 0, "align: --threshold is ", a.threshold,
        ", but --symmetry product multiplies weights before it chooses; expected another symmetry, or no threshold");
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

void add_align(CLI::App& app) {
  auto* command = app.add_subcommand("align", "Link the words of two texts: heed align runs/demo source target");
  auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "A folder that heed train made")->required();
  command->add_option("source", a->source, "One sentence a line")->required();
  command->add_option("target", a->target, "Its translation, line by line")->required();
  command->add_option("--reverse", a->reverse, "A run that translates the other way, to symmetrize with");
  command->add_option("--symmetry", a->symmetry, "With --reverse: product, " + joined(symmetry_names()))
      ->needs("--reverse")
      ->capture_default_str();
  command->add_option("--threshold", a->threshold, "No link where the weight is not above this; not with product")
      ->check(finite_number(0, 1))
      ->capture_default_str();
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run(*a); });
}

const Command align_command{40, add_align};

}  // namespace
}  // namespace heed::cli
