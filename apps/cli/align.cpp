// heed align: which word belongs to which, from the attention of a translator that is shown both sides.

#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/device.h"

#include "heed/base/links.h"
#include "heed/data/text_file.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

struct Arguments {
  std::string run, source, target, reverse, symmetry, device = "auto";
  double threshold = 0;
};

/// Links from source to target, one for each target word, of a translator in either direction.
std::vector<Links> links_of(const std::string& run, const std::vector<std::string>& from,
                            const std::vector<std::string>& to, const Arguments& a) {
  Translator translator = Translator::load(run, device_of(a.device));
  check(translator.model().aligns(), "align: the model in ", run,
        " has one context for all words, so it aligns none; expected one with attention");
  std::vector<Links> all;
  for (const auto& scored : translator.score(from, to)) all.push_back(strongest_links(scored.weights, a.threshold));
  return all;
}

void run(const Arguments& a) {
  const auto source = read_lines(a.source), target = read_lines(a.target);
  check(source.size() == target.size(), "align: ", a.source, " has ", source.size(), " lines, ", a.target, " has ",
        target.size(), "; expected as many of both");
  const bool two_ways = !a.reverse.empty();
  check(two_ways || a.symmetry.empty() || a.symmetry == "forward", "align: --symmetry ", a.symmetry,
        " needs links of both directions; expected --reverse with a run that translates ", a.target, " to ", a.source);
  auto links = links_of(a.run, source, target, a);
  if (two_ways) {
    const Symmetry how = parse_symmetry(a.symmetry.empty() ? "grow_diag_final_and" : a.symmetry);
    const auto back = links_of(a.reverse, target, source, a);
    for (size_t i = 0; i < links.size(); ++i) links[i] = symmetrised(links[i], swapped(back[i]), how);
  }
  for (const auto& line : links) std::cout << pharaoh(line) << '\n';
}

void add_align(CLI::App& app) {
  auto* command = app.add_subcommand("align", "Link the words of two texts: heed align runs/demo source target");
  auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "A folder that heed train made")->required();
  command->add_option("source", a->source, "One sentence a line")->required();
  command->add_option("target", a->target, "Its translation, line by line")->required();
  command->add_option("--reverse", a->reverse, "A run that translates the other way, to symmetrise with");
  command->add_option("--symmetry", a->symmetry,
                      "With --reverse: " + joined(symmetry_words()) + " (the last is usual)");
  command->add_option("--threshold", a->threshold, "No link where the weight is not above this")->capture_default_str();
  add_device_option(*command, a->device);
  command->callback([a] { run(*a); });
}

const Command align_command{40, add_align};

}  // namespace
}  // namespace heed::cli
