#include "apps/cli/torch/attend_texts.h"

#include <iostream>
#include <unistd.h>

#include "apps/cli/explain/verdict.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/heat/png/png.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/example_text.h"
#include "apps/cli/torch/text_maps.h"
#include "apps/cli/torch/translation_maps.h"
#include "apps/cli/torch/vocabulary_report.h"
#include <nlohmann/json.hpp>

#include "heed/data/file.h"
#include "heed/models/classify/prediction_text.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The option of classifiers instead of one of translators.
std::string instead_of(const std::string& option) {
  if (option == "--source") return "--text";
  return option == "--attention" || option == "--layer" || option == "--step" ? "--call" : "none of translators";
}

void write_picture(const std::string& path, const TextPictures& all) {
  const size_t count = all.texts.size() + all.maps.size();
  check(count == 1, "attend: got --png with ", count, " pictures, expected one; choose it by --call, or use --html");
  all.texts.empty() ? write_png(path, all.maps.front()) : write_png(path, all.texts.front());
}

}  // namespace

void attend_to_texts(const AttendArguments& a) {
  if (!a.of_translators.empty())
    fail("attend: got ", a.of_translators.front(), ", expected ", instead_of(a.of_translators.front()), ": ",
         excerpt(a.run), " is a classifier");
  check(!a.text.empty(), "attend: got no text, expected --text: ", excerpt(a.run), " is a classifier");
  check(a.png.empty() || a.text.size() == 1, "attend: got --png with ", a.text.size(),
        " texts, expected one; --html holds many");
  Classifier classifier = Classifier::load(a.run, device_of(a.device));
  VocabularyReport vocabulary("attend", a.run, VocabularyReport::Unspaced::kept);
  int64_t cut = 0;
  TextPictures all;
  Json texts = Json::array();
  std::vector<std::vector<std::string>> examples;
  for (const auto& text : a.text) {
    const std::string where = "attend: --text " + std::to_string(examples.size() + 1);
    examples.push_back(texts_of(text, classifier.reader(), where));
    cut += vocabulary.read_texts(classifier.reader(), examples.back());
  }
  const auto predictions = classifier.predict(examples);
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto weights = chosen_weights(classifier, examples[i], a.call, a.head);
    texts.push_back(prediction_json(classifier, predictions[i]));
    texts.back()["equal_weights"] = !classifier.model().attention().attends();
    texts.back()["attention"] = weights_json(weights);
    TextPictures one = pictures_of(classifier, predictions[i], weights);
    std::move(one.texts.begin(), one.texts.end(), std::back_inserter(all.texts));
    std::move(one.maps.begin(), one.maps.end(), std::back_inserter(all.maps));
  }
  const std::string verdict = verdict_on(a.run, "attend", std::cerr);
  for (auto& text : all.texts) text.note = verdict;
  for (auto& map : all.maps) map.note = verdict;
  vocabulary.print(std::cerr);
  print_cut(std::cerr, "attend", classifier.reader(), cut);
  if (!a.png.empty()) write_picture(a.png, all);
  if (!a.html.empty()) write_atomically(a.html, html_page("What " + a.run + " attends to", all.maps, all.texts));
  if (a.json) {
    const Json out{{"run", a.run},
                   {"unknown_words", vocabulary.unknown()},
                   {"verdict", verdict.empty() ? Json(nullptr) : Json(verdict)},
                   {"texts", std::move(texts)}};
    std::cout << out.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  const auto color = colors(a.colors, isatty(STDOUT_FILENO) == 1);
  for (const auto& text : all.texts) print_text_map(std::cout, text, color, terminal_columns());
  for (const auto& map : all.maps) print_heat_map(std::cout, map, color, terminal_columns());
}

}  // namespace heed::cli
