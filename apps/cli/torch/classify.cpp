// heed classify: labels the lines of standard input as they arrive.

#include <cstdio>
#include <iostream>
#include <unistd.h>

#include "apps/cli/classify_options.h"
#include "apps/cli/line_reader.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include <nlohmann/json.hpp>

#include "heed/base/excerpt.h"
#include "heed/models/classify/prediction_text.h"
#include "heed/models/classify/text_weights.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The texts of a line, one for each column of the run.
std::vector<std::string> texts_of(const std::string& line, int64_t number, const TextReader& reader) {
  if (reader.columns.size() == 1) return {line};
  std::vector<std::string> texts;
  for (size_t from = 0; from <= line.size();) {
    const size_t tab = std::min(line.find('\t', from), line.size());
    texts.push_back(line.substr(from, tab - from));
    from = tab + 1;
  }
  check(texts.size() == reader.columns.size(), "classify: standard input, line ", number, ": got ", texts.size(),
        texts.size() == 1 ? " text" : " texts", ", expected ", reader.columns.size(),
        " separated by tabs: ", joined(reader.columns));
  return texts;
}

/// "film:0.83 was:0.02", of all texts.
std::string weights_text(const std::vector<TextWeights>& all, const TextReader& reader,
                         const std::vector<std::string>& texts) {
  std::string out;
  for (size_t c = 0; c < texts.size(); ++c) {
    const auto weights = word_weights(all, reader.columns[c]);
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

Json weights_json(const std::vector<TextWeights>& all) {
  Json list = Json::array();
  for (const auto& one : all) {
    list.push_back({{"step", one.step}, {"text", one.column}});
    if (one.sentence >= 0) list.back()["sentence"] = one.sentence;
    list.back()[one.sentences ? "sentences" : "words"] = one.words;
    list.back()["weights"] = one.weights;
  }
  return list;
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

/// Counts the words of which nothing is known to the vocabulary, and texts that are cut.
class TextReport {
 public:
  void add(const TextReader& reader, const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      const ReadText read = reader.read(text);
      cut_ += read.cut > 0 ? 1 : 0;
      for (const auto& sentence : read.sentences)
        for (size_t i = 0; i < sentence.ids.size(); ++i) {
          ++pieces_;
          if (sentence.ids[i] != Tokenizer::kUnknown || sentence.word[i] < 0) continue;
          ++unknown_;
          if (example_.empty()) example_ = sentence.words[static_cast<size_t>(sentence.word[i])];
        }
    }
  }
  void print(const TextReader& reader, const std::string& run) const {
    if (unknown_ > 0)
      std::cerr << "classify: " << unknown_ << " of " << pieces_ << " tokens are not in the vocabulary of " << run
                << " and were read as <unk>, such as '" << excerpt(example_) << "'\n";
    if (cut_ > 0)
      std::cerr << "classify: cut " << cut_ << (cut_ == 1 ? " text" : " texts")
                << " after data.max_length = " << reader.max_length << " tokens, as in training\n";
  }

 private:
  int64_t unknown_ = 0, pieces_ = 0, cut_ = 0;
  std::string example_;
};

void run_classify(const ClassifyArguments& a) {
  const at::Device device = device_of(a.device);
  Classifier classifier = Classifier::load(a.run, device);
  check(!a.attend || classifier.model().attention().attends(), "classify: --attend, but the model in ", a.run,
        " has no attention (", classifier.model().attention().to_string(), "); expected a model with attention");
  Output output(classifier, a);
  TextReport report;
  LineReader reader(STDIN_FILENO);
  const int64_t at_once = lines_at_once(a.lines, device);
  for (auto lines = reader.some(at_once); !lines.empty(); lines = reader.some(at_once)) {
    int64_t number = reader.lines() - static_cast<int64_t>(lines.size());
    std::vector<std::vector<std::string>> examples;
    for (const auto& line : lines) {
      examples.push_back(texts_of(line, ++number, classifier.reader()));
      report.add(classifier.reader(), examples.back());
    }
    const auto predictions = classifier.predict(examples);
    for (size_t i = 0; i < examples.size(); ++i) output.print(examples[i], predictions[i]);
    std::cout.flush();
    check(std::cout.good(), "classify: the output could not be written completely");
  }
  report.print(classifier.reader(), a.run);
}

const Body classify_body{"classify", run_classify};

}  // namespace
}  // namespace heed::cli
