// heed attend: what a translator looks at, as a heat map on the terminal, as a PNG and as a page.

#include <iostream>
#include <memory>
#include <unistd.h>

#include "apps/cli/command.h"
#include "apps/cli/device.h"
#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/heat/png/png.h"
#include "apps/cli/lengths.h"
#include "apps/cli/translation_maps.h"
#include <nlohmann/json.hpp>

#include "heed/data/file.h"

namespace heed::cli {
namespace {

struct Arguments {
  std::string run, png, html, colors = "auto", device = "auto";
  std::vector<std::string> source, target;
  bool json = false;
  int64_t beam = 5, max_length = kMaxTokens;
};

void print_json(const std::vector<HeatMap>& maps) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& map : maps) all.push_back({{"source", map.columns}, {"target", map.rows}, {"weights", map.weights}});
  std::cout << all.dump(2) << '\n';
}

void run(const Arguments& a) {
  check(a.target.empty() || a.target.size() == a.source.size(), "attend: ", a.source.size(), " sources and ",
        a.target.size(), " targets; expected a target for each source, or none");
  check(a.png.empty() || a.source.size() == 1, "attend: --png with ", a.source.size(),
        " sources; expected one, or --html, which holds many");
  Translator translator = Translator::load(a.run, device_of(a.device));
  check_source_lengths(translator, a.source, {"--source", 1}, a.max_length);
  check_target_lengths(translator, a.target, {"--target", 1}, a.max_length);
  const auto maps = translation_maps(translator, a.source, a.target, a.beam);
  if (!a.png.empty()) write_png(a.png, maps.front());
  if (!a.html.empty()) write_atomically(a.html, html_page("What " + a.run + " looks at", maps));
  if (a.json) return print_json(maps);
  const auto color = colors(a.colors, isatty(STDOUT_FILENO) == 1);
  for (const auto& map : maps) print_heat_map(std::cout, map, color, terminal_columns());
}

void add_attend(CLI::App& app) {
  auto* command =
      app.add_subcommand("attend", "Show what a translator looks at: heed attend runs/demo --source 'Tom sleeps'");
  auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "A folder that heed train made")->required();
  command->add_option("--source", a->source, "A sentence; may be given more than once")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--target", a->target, "Its translation; without one the translator's own")
      ->allow_extra_args(false);
  command->add_option("--png", a->png, "Write a picture to this file");
  command->add_option("--html", a->html, "Write a page to this file; it opens offline");
  command->add_option("--beam", a->beam, "Hypotheses at once")->check(whole_number(1, 1000))->capture_default_str();
  command->add_flag("--json", a->json, "Words and weights for machines");
  add_max_length_option(*command, a->max_length);
  add_color_option(*command, a->colors);
  add_device_option(*command, a->device);
  command->callback([a] { run(*a); });
}

const Command attend_command{50, add_attend};

}  // namespace
}  // namespace heed::cli
