#include "heed/models/classify/classifier.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"
#include "heed/models/attention_path.h"
#include "heed/models/model_memory.h"
#include "heed/torch_support/model_file.h"

namespace heed {
namespace {

constexpr const char* kTokenizer = "/tokenizer.json";

std::vector<double> row_of(const Tensor& rows, int64_t row) {
  const double* const first = rows.data_ptr<double>() + row * rows.size(1);
  return {first, first + rows.size(1)};
}

}  // namespace

int64_t Prediction::best() const {
  return std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
}

std::vector<int64_t> first_pieces(const Segmentation& sentence) {
  std::vector<int64_t> first(sentence.words.size(), -1);
  for (size_t i = sentence.word.size(); i-- > 0;)
    if (sentence.word[i] >= 0) first[static_cast<size_t>(sentence.word[i])] = static_cast<int64_t>(i);
  return first;
}

Classifier::Classifier(std::shared_ptr<ClassificationModel> model, TextReader reader, LabelSet labels)
    : model_(std::move(model)),
      reader_(std::move(reader)),
      labels_(std::move(labels)),
      device_(model_->parameters().front().device()) {
  reader_.documents = model_->reads_documents();
}

Classifier Classifier::load(const std::string& folder, at::Device device) {
  check_run(folder);
  const std::string path = folder + "/config.json";
  check(exists(folder + "/model.safetensors"), "classify: ", folder,
        " has no model.safetensors yet: training writes it at the first validation");
  const auto config = read_config(folder);
  const Settings settings = read_recipe(path);
  const std::string task = settings.text("task");
  check(task == "classify", path, ": task is '", task, "', expected classify");
  TextReader reader = TextReader::parse(config.value("text", nlohmann::json()), path);
  LabelSet labels = LabelSet::parse(config.value("labels", nlohmann::json()), path);
  checked_tokenizers(folder);
  reader.tokenizer = load_tokenizer(folder + kTokenizer);
  const auto made = [&](const Settings& of_model) {
    return within_memory(of_model, 1, "weights", [&] {
      return std::make_shared<ClassificationModel>(
          of_model, TextInputs{.columns = reader.columns, .documents = reader.sentences != "none"},
          reader.tokenizer->size(), labels);
    });
  };
  auto model = made(settings.at("model"));
  if (config.contains(kGuideInConfig)) model->set_guide(made(settings.at(kGuideInConfig)));
  model->to(device);
  load_model(*model, folder);
  model->eval();
  return {std::move(model), std::move(reader), std::move(labels)};
}

std::vector<Prediction> Classifier::predict(const std::vector<std::vector<std::string>>& texts, int64_t batch_tokens) {
  const at::NoGradGuard no_grad;
  const bool training = model_->is_training();
  model_->eval();
  const ExampleIds ids = reader_.read_all(texts);
  std::vector<Prediction> all(texts.size());
  for (const Rows& rows : batches_by_length(ids.lengths(), batch_tokens)) {
    const Pooled pooled = model_->pool(collate(ids, rows).to(device_));
    const Tensor found = model_->predict(pooled).to(at::kDouble).cpu().contiguous();  // [B, C], [B, 1] or [B, L, C]
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<size_t>(rows[i]);
      Prediction& prediction = all[row];
      if (labels_.form == LabelForm::tokens) {
        const auto sentences = reader_.read(texts[row].front()).sentences;
        const Tensor own = found[static_cast<int64_t>(i)].contiguous();
        if (sentences.empty()) continue;
        for (const int64_t piece : first_pieces(sentences.front()))
          prediction.words.push_back(piece < 0 ? std::vector<double>() : row_of(own, piece));
      } else if (labels_.form == LabelForm::number) {
        prediction.number =
            labels_.mean + labels_.deviation * found.data_ptr<double>()[static_cast<int64_t>(i) * found.size(1)];
      } else {
        prediction.probabilities = row_of(found, static_cast<int64_t>(i));
      }
    }
  }
  model_->train(training);
  return all;
}

std::vector<int64_t> Classifier::classes(const Prediction& prediction) const {
  if (labels_.form == LabelForm::one) return {prediction.best()};
  std::vector<int64_t> all;
  for (size_t c = 0; c < prediction.probabilities.size(); ++c)
    if (prediction.probabilities[c] >= labels_.threshold) all.push_back(static_cast<int64_t>(c));
  return all;
}

std::string described_attention(Classifier& classifier, const std::vector<std::string>& example) {
  ClassificationModel& model = classifier.model();
  const at::NoGradGuard no_grad;
  const bool training = model.is_training();
  model.eval();  // nothing is drawn, and no draw is counted
  const Steps steps =
      model.pool(collate(classifier.reader().read_all({example}), {0}).to(classifier.device())).output.steps;
  model.train(training);
  if (steps.empty()) return "attention: none, " + model.attention().to_string() + " of the features";
  return described_paths(steps, [](const std::string& step) { return step; });
}

}  // namespace heed
