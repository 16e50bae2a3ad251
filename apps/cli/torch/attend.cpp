// heed attend: attention weights of a run: terminal, PNG, HTML or JSON. Those of a translator are heat maps.

#include <iostream>
#include <memory>
#include <unistd.h>

#include "apps/cli/attend_options.h"
#include "apps/cli/explain/verdict.h"
#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/heat/png/png.h"
#include "apps/cli/torch/attend_texts.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/lengths.h"
#include "apps/cli/torch/translation_maps.h"
#include "apps/cli/torch/vocabulary_report.h"
#include <nlohmann/json.hpp>

#include "heed/base/excerpt.h"
#include "heed/data/file.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

AttentionKind kind_of(const std::string& name) {
  return name == "cross" ? AttentionKind::cross : name == "encoder" ? AttentionKind::encoder : AttentionKind::decoder;
}

Json json_of(const AttentionMap& map, const AttendArguments& a, const StepRange& steps, const TranslationModel& model) {
  return {{"attention", a.attention},
          {"layer", map.layer},
          {"layers", map.layers},
          {"head", map.head == 0 ? Json("mean") : Json(map.head)},
          {"heads", map.heads},
          {"first_step", steps.from},
          {"equal_weights", a.attention == "cross" && !model.aligns()},
          {"source", map.source_words},
          {"target", map.target_words},
          {"rows", map.rows},
          {"columns", map.columns},
          {"weights", map.weights}};
}

void print_json(const std::vector<AttentionMap>& maps, const AttendArguments& a, const StepRange& steps,
                const TranslationModel& model, const VocabularyReport& vocabulary, const std::string& verdict) {
  Json all{{"run", a.run},
           {"unknown_words", vocabulary.unknown()},
           {"verdict", verdict.empty() ? Json(nullptr) : Json(verdict)},
           {"maps", Json::array()}};
  for (const auto& map : maps) all["maps"].push_back(json_of(map, a, steps, model));
  std::cout << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void attend_to_sources(const AttendArguments& a) {
  check(a.text.empty(), "attend: got --text, expected --source: ", excerpt(a.run), " is a translator");
  check(a.call.empty(), "attend: got --call, expected --layer: ", excerpt(a.run), " is a translator");
  check(a.target.empty() || a.target.size() == a.source.size(), "attend: got ", a.source.size(), " sources and ",
        a.target.size(), " targets, expected a target for each source, or none");
  check(a.png.empty() || a.source.size() == 1, "attend: got --png with ", a.source.size(),
        " sources, expected one; --html holds many");
  const StepRange steps = a.step.empty() ? StepRange{} : parse_steps(a.step);
  Translator translator = Translator::load(a.run, device_of(a.device));
  VocabularyReport vocabulary("attend", a.run, VocabularyReport::Unspaced::segmented);
  const auto sources = vocabulary.read_source(translator, a.source),
             targets = vocabulary.read_target(translator, a.target);
  check_source_lengths(translator, sources, {"--source", 1}, a.max_length);
  check_target_lengths(translator, targets, {"--target", 1}, a.max_length);
  const AttentionKind kind = kind_of(a.attention);
  std::vector<AttentionMap> maps;
  std::vector<HeatMap> heat_maps;
  // The tests are of cross-attention.
  const std::string verdict = kind == AttentionKind::cross ? verdict_on(a.run, "attend", std::cerr) : "";
  for (const auto& map : attention_maps(translator, sources, targets, {.beam = a.beam},
                                        {.kind = kind, .layer = a.layer, .head = a.head})) {
    maps.push_back(with_steps(map, steps));
    heat_maps.push_back(heat_map_of(maps.back(), translator.model(), kind));
    heat_maps.back().note = verdict;
  }
  vocabulary.print(std::cerr);
  if (!a.png.empty()) write_png(a.png, heat_maps.front());
  if (!a.html.empty()) write_atomically(a.html, html_page("What " + a.run + " attends to", heat_maps));
  if (a.json) return print_json(maps, a, steps, translator.model(), vocabulary, verdict);
  const auto color = colors(a.colors, isatty(STDOUT_FILENO) == 1);
  for (const auto& map : heat_maps) print_heat_map(std::cout, map, color, terminal_columns());
}

void run_attend(const AttendArguments& a) {
  check_run(a.run);
  const auto config = read_config(a.run);
  config.value("task", "translate") == "classify" ? attend_to_texts(a) : attend_to_sources(a);
}

const Body attend_body{"attend", run_attend};

}  // namespace
}  // namespace heed::cli
