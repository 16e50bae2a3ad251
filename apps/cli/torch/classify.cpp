// heed classify: labels the lines of standard input as they arrive.

#include <cstdio>
#include <iostream>
#include <unistd.h>

#include "apps/cli/classify_options.h"
#include "apps/cli/line_reader.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/example_text.h"
#include "apps/cli/torch/text_maps.h"
#include "apps/cli/torch/vocabulary_report.h"
#include <nlohmann/json.hpp>

#include "heed/models/classify/prediction_text.h"
#include "heed/models/classify/text_weights.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "film:0.83 was:0.02", of all texts.
std::string weights_text(const std::vector<TextWeights>& all, const TextReader& reader,
                         const std::vector<std::string>& texts) {
  std::string out;
  for (size_t c = 0; c < texts.size(); ++c) {
    const auto weights = word_weights(all, reader.columns[c]);
    if (weights.empty()) continue;  // no call attends to its words
    size_t i = 0;
    for (const auto& sentence : reader.read(texts[c]).sentences)
      for (const auto& word : sentence.words) {
        char weight[32];
        std::snprintf(weight, sizeof weight, "%.3f", i < weights.size() ? weights[i] : 0);
        out += (out.empty() ? "" : " ") + word + ":" + weight;
        ++i;
      }
  }
  return out;
}

class Output {
 public:
  Output(Classifier& classifier, const ClassifyArguments& arguments) : classifier_(classifier), a_(arguments) {}

  void print(const std::vector<std::string>& texts, const Prediction& prediction) {
    std::vector<TextWeights> weights;
    if (a_.attend) weights = text_weights(classifier_, texts);
    if (!a_.json) {
      std::cout << prediction_text(classifier_, prediction);
      if (a_.attend) std::cout << '\t' << weights_text(weights, classifier_.reader(), texts);
      std::cout << '\n';
      return;
    }
    Json line = prediction_json(classifier_, prediction);
    if (a_.attend) line["attention"] = weights_json(weights);
    std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }

 private:
  Classifier& classifier_;
  const ClassifyArguments& a_;
};

void run_classify(const ClassifyArguments& a) {
  const at::Device device = device_of(a.device);
  Classifier classifier = Classifier::load(a.run, device);
  check(!a.attend || classifier.model().attention().attends(), "classify: --attend, but the model in ", a.run,
        " has no attention (", classifier.model().attention().to_string(), "); expected a model with attention");
  Output output(classifier, a);
  VocabularyReport vocabulary("classify", a.run, VocabularyReport::Unspaced::kept);
  int64_t cut = 0;
  LineReader reader(STDIN_FILENO);
  const int64_t at_once = lines_at_once(a.lines, device);
  for (auto lines = reader.some(at_once); !lines.empty(); lines = reader.some(at_once)) {
    int64_t number = reader.lines() - static_cast<int64_t>(lines.size());
    std::vector<std::vector<std::string>> examples;
    for (const auto& line : lines) {
      const std::string where = "classify: standard input, line " + std::to_string(++number);
      examples.push_back(texts_of(line, classifier.reader(), where));
      cut += vocabulary.read_texts(classifier.reader(), examples.back());
    }
    const auto predictions = classifier.predict(examples);
    for (size_t i = 0; i < examples.size(); ++i) output.print(examples[i], predictions[i]);
    std::cout.flush();
    check(std::cout.good(), "classify: the output could not be written completely");
  }
  vocabulary.print(std::cerr);
  print_cut(std::cerr, "classify", classifier.reader(), cut);
}

const Body classify_body{"classify", run_classify};

}  // namespace
}  // namespace heed::cli
