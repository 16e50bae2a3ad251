// heed attend: what a translator looks at, as a heat map on the terminal, as a PNG and as a page.

#include <iostream>
#include <memory>
#include <unistd.h>

#include "apps/cli/attend_options.h"
#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/heat/png/png.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/lengths.h"
#include "apps/cli/torch/translation_maps.h"
#include <nlohmann/json.hpp>

#include "heed/data/file.h"

namespace heed::cli {
namespace {

void print_json(const std::vector<HeatMap>& maps) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& map : maps) all.push_back({{"source", map.columns}, {"target", map.rows}, {"weights", map.weights}});
  std::cout << all.dump(2) << '\n';
}

void run_attend(const AttendArguments& a) {
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

const Body attend_body{"attend", run_attend};

}  // namespace
}  // namespace heed::cli
