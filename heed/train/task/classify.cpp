// Classification: trains a classifier of texts on labeled examples. A label is one class, several, a number, or a
// class for each word (model.output).
//
//   data    the examples (data/labeled/labeled_corpus.h); tokenizer, max_length
//   model   embedding, features, query, attention, output (models/classify/model.h)
//   train   batch_tokens, label_smoothing, class_weights, penalty, reward, supervision, guide, adversary
//   eval    monitor, threshold
//
// The keys are read in classify_settings.h.

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/md5.h"
#include "heed/base/scalar.h"
#include "heed/data/batches.h"
#include "heed/data/file.h"
#include "heed/data/labeled/labeled_corpus.h"
#include "heed/data/labeled/text_columns.h"
#include "heed/data/labeled/vectors.h"
#include "heed/data/saved_model.h"
#include "heed/data/setting_json.h"
#include "heed/models/classify/classifier.h"
#include "heed/models/classify/other_run.h"
#include "heed/models/classify/prediction_text.h"
#include "heed/models/classify/reward.h"
#include "heed/models/classify/supervision.h"
#include "heed/models/soft_attention.h"
#include "heed/torch_support/noise_scope.h"
#include "heed/train/same_model.h"
#include "heed/train/task.h"
#include "heed/train/task/classify_report.h"
#include "heed/train/task/classify_settings.h"
#include "heed/train/task/encoded_set.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kClassify = "classify", *kTokenizerFile = "/tokenizer.json", *kPenalty = "penalty";

std::vector<std::string> column_names(const LabeledOptions& data) {
  std::vector<std::string> names;
  for (const auto& column : read_text_columns(data.examples.text)) names.push_back(column.name);
  return names;
}

class Classify final : public Task {
 public:
  Classify(const Settings& recipe, const TaskEnvironment& environment)
      : model_settings_(recipe.at("model")),
        form_(label_form(model_settings_)),
        settings_(read_classify_settings(recipe, form_)),
        seed_(static_cast<uint64_t>(environment.seed)),
        device_(environment.device) {
    const TextInputs inputs{.columns = column_names(settings_.data),
                            .documents = settings_.data.examples.sentences != "none"};
    const auto parts = read_classification(model_settings_, inputs);  // errors in the recipe come before any file
    check_loss_options(recipe.at("train"), *parts.output);
    recipe.refuse_unread();
    const bool reads_vectors = !parts.vectors.empty() && (parts.frozen || !environment.resumed);
    if (reads_vectors && !exists(parts.vectors))
      model_settings_.at("embedding").refuse("vectors", "is '", parts.vectors, "', but there is no such file");
    corpus_ = read_labeled_corpus(settings_.data);
    labels_ = learned();
    TextReader reader{.columns = inputs.columns,
                      .sentences = inputs.documents ? "tab" : "none",  // the corpus is split, then lowercased: again by
                      .lowercase = false,                              // rule, it would be split elsewhere
                      .documents = parts.attention->takes_documents(),
                      .max_length = settings_.max_length};
    reader.tokenizer = environment.resumed ? load_tokenizer(checked_tokenizers(environment.folder).front())
                                           : train_tokenizer(settings_.tokenizer, all_texts());
    train_ = encoded(reader, corpus_.train, labels_);
    dev_ = encoded(reader, corpus_.dev, labels_);
    test_ = encoded(reader, corpus_.test, labels_);
    lengths_ = train_.ids.lengths();
    for (auto& ids : lengths_.source)
      if (ids.empty()) ids.push_back(Tokenizer::kPad);  // an empty text is one padded token
    batches_ = std::make_unique<Batches>(lengths_, BatchOptions{.tokens = settings_.batch_tokens, .seed = seed_});
    model_ = std::make_shared<ClassificationModel>(model_settings_, inputs, reader.tokenizer->size(), labels_);
    if (reads_vectors) set_vectors(parts.vectors, *reader.tokenizer);
    if (parts.frozen) frozen_vectors_ = parts.vectors;
    reader.documents = model_->reads_documents();
    add_other_runs(recipe.at("train"), reader);
    if (settings_.penalty > 0 && !model_->computes(kPenalty))
      recipe.at("train").refuse("penalty", "is given, but ", model_->attention().to_string(),
                                " has none; expected model.attention.structure: self_attentive(structured)");
    model_->to(device_);
    if (base_) adversary_ = std::make_unique<Adversary>(std::move(*base_), *model_, settings_.adversary.lambda);
    if (settings_.supervision.active()) {
      supervision_ = std::make_unique<TextSupervision>(*model_, settings_.supervision);
      train_gold_ = gold_of(corpus_.train, reader);
      dev_gold_ = gold_of(corpus_.dev, reader);
      if (settings_.monitor == kAttentionLoss && count_gold(dev_gold_) == 0)
        recipe.at("eval").refuse("monitor", "is ", kAttentionLoss, ", but no text of the development set has a ",
                                 "rationale with a weight above 0; correct data.dev_rationales");
    }
    classifier_ = std::make_unique<Classifier>(model_, std::move(reader), labels_);
    if (environment.resumed) check_same_model(environment.folder, model_settings_);
    if (model_->attention().attends())
      reward_ = LabelReward::for_mechanism(model_->attention().mechanism(),
                                           {.weight = settings_.reward, .soft_share = settings_.soft_share});
    class_weights_ = weights_of(recipe.at("train"));
  }

  torch::nn::Module& model() override { return *model_; }
  int64_t batches(int64_t epoch) override { return batches_->count(epoch); }

  Loss loss(const Share& share) override {
    const TextBatch batch =
        collate(train_.ids, batches_->rows(share.epoch, share.batch), share.rank, share.world).to(device_);
    if (batch.rows.empty()) return {};
    check(!reward_ || share.world == 1, "recipe: model.attention draws and learns by reward, whose baseline one ",
          "process keeps; train with one process");
    const uint64_t step = static_cast<uint64_t>(share.epoch) << 32U | static_cast<uint64_t>(share.batch);
    const NoiseScope noise(seed_, step, batch.first_row);
    const bool soft = reward_ && (adversary_ || reward_->is_soft(share.batch));
    const SoftAttention softened(*model_, soft);
    Call call;
    call.deterministic = settings_.deterministic;
    const auto requested = supervision_ || adversary_ ? std::optional(TokenAttention::outputs()) : std::nullopt;
    const Pooled pooled = model_->pool(batch, call, requested);
    const Tensor wanted = wanted_of(batch).to(device_);
    Loss loss;
    loss.count = count_of(batch);
    loss.sum = adversary_
                   ? adversary_->loss(*model_, pooled, batch)
                   : model_->loss(pooled, wanted, {.smoothing = settings_.label_smoothing, .weights = class_weights_});
    loss.shown = loss.sum.detach();
    if (settings_.penalty > 0)
      loss.sum = loss.sum + settings_.penalty * pooled.output.also.at(kPenalty).sum().to(loss.sum.scalar_type());
    if (reward_ && !soft) {
      const Tensor predicted = model_->predict(pooled).detach();
      if (const Tensor more = (*reward_)(pooled, predicted, wanted, form_); more.defined()) loss.sum = loss.sum + more;
    }
    if (!supervision_) return loss;
    if (const Tensor more = supervision_->distance(pooled, batch, train_gold_); more.defined())
      loss.sum = loss.sum + supervision_->weight() * more.to(loss.sum.scalar_type());
    return loss;
  }

  std::string describe(const Share& share) override {
    std::string text =
        "epoch " + std::to_string(share.epoch + 1) + ", batch " + std::to_string(share.batch + 1) + ", examples";
    const auto rows = batches_->rows(share.epoch, share.batch);
    for (size_t i = 0; i < std::min<size_t>(rows.size(), 8); ++i)
      text += " " + corpus_.train.origins[static_cast<size_t>(rows[i])];
    return text + (rows.size() > 8 ? " ..." : "");
  }

  Figures validate() override {
    const auto predictions = classifier_->predict(corpus_.dev.texts, settings_.eval_batch_tokens);
    Figures figures = label_figures({labels_, predictions, dev_.labels});
    if (supervision_ && count_gold(dev_gold_) > 0) figures.emplace_back(kAttentionLoss, attention_loss());
    if (adversary_) add_distances(figures);
    return figures;
  }
  double score(const Figures& figures) const override {
    for (const auto& [name, value] : figures)
      if (name == settings_.monitor) return is_better_smaller(name) ? -value : value;
    fail("train/classify: got no figure ", settings_.monitor, " of the development set, expected it to decide");
  }
  std::string attention_path() override { return described_attention(*classifier_, corpus_.train.texts.front()); }
  std::string remarks() const override {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() || more.empty() ? "" : "; ") + more; };
    add(described(corpus_.train.left_out, "training"));
    add(described(corpus_.dev.left_out, "dev"));
    add(described(corpus_.test.left_out, "test"));
    if (vectors_found_ >= 0)
      add("read the vectors of " + std::to_string(vectors_found_) + " of " +
          std::to_string(classifier_->reader().tokenizer->size()) + " pieces");
    if (supervision_)
      add("supervise the attention of " + std::to_string(count_gold(train_gold_)) + " of " +
          std::to_string(corpus_.train.size()) + " training texts; the others have no rationale");
    if (const int64_t cut = train_.cut + dev_.cut + test_.cut; cut > 0)
      add("cut " + std::to_string(cut) + " texts after data.max_length = " + std::to_string(settings_.max_length) +
          " tokens");
    return text;
  }

  void write_files(const std::string& folder) override {
    classifier_->reader().tokenizer->save(folder + kTokenizerFile);
    Json text = classifier_->reader().json();
    text["sentences"] = settings_.data.examples.sentences;
    text["lowercase"] = settings_.data.examples.lowercase;
    Json config{{"task", kClassify},
                {"text", text},
                {"labels", labels_.json()},
                {"mechanism", mechanism()},
                {"model", setting_json(model_settings_.resolved().written())}};
    if (!guide_settings_.is_null()) config[kGuideInConfig] = guide_settings_;
    write_config(folder, config);
  }

  Json evaluate(const std::string& folder) override {
    Json report;
    report["dev"] = evaluated(corpus_.dev, dev_, folder.empty() ? "" : folder + "/dev.predictions.tsv");
    if (corpus_.test.size() > 0)
      report["test"] = evaluated(corpus_.test, test_, folder.empty() ? "" : folder + "/test.predictions.tsv");
    return report;
  }

  Json state() const override { return reward_ ? Json{{"baseline", reward_->baseline()}} : Json(nullptr); }
  void set_state(const Json& state) override {
    if (!reward_) return;
    const bool fine = state.is_object() && state.contains("baseline") && state["baseline"].is_number();
    check(fine, "got ", state.dump().substr(0, 60), R"( for state.task, expected {"baseline": 0.5})");
    reward_->set_baseline(state["baseline"]);
  }
  Json data_hashes() const override {
    Json hashes{{"data.train", md5_of_lines(lines_of(corpus_.train))},
                {"data.dev", md5_of_lines(lines_of(corpus_.dev))},
                {"data.test", md5_of_lines(lines_of(corpus_.test))}};
    if (!settings_.data.train_rationales.empty())
      hashes["data.train_rationales (" + settings_.data.train_rationales + ")"] = md5_of_lines(lines_of(train_gold_));
    if (!settings_.data.dev_rationales.empty())
      hashes["data.dev_rationales (" + settings_.data.dev_rationales + ")"] = md5_of_lines(lines_of(dev_gold_));
    if (!frozen_vectors_.empty()) hashes["model.embedding.vectors"] = file_md5(frozen_vectors_);
    for (const auto& [key, run] :
         {std::pair{"train.guide.run", settings_.guide.run}, {"train.adversary.run", settings_.adversary.run}})
      if (!run.empty()) hashes[std::string(key) + " (" + run + ")"] = other_run_md5(run);
    return hashes;
  }
  std::string unit() const override { return form_ == LabelForm::tokens ? "words" : "examples"; }
  double tokens_per_unit() const override {
    double tokens = 0, units = 0;
    for (const auto& ids : lengths_.source) tokens += static_cast<double>(ids.size());
    for (const auto& pieces : train_.pieces)
      units += static_cast<double>(std::count_if(pieces.begin(), pieces.end(), [](int64_t c) { return c >= 0; }));
    return tokens / std::max(1.0, form_ == LabelForm::tokens ? units : static_cast<double>(lengths_.source.size()));
  }
  bool is_fixed(const std::string& key) const override {
    for (const char* const section : {"train.guide", "train.adversary"})
      if (key.rfind(section, 0) == 0) return true;
    return (key.rfind("data.", 0) == 0 && key != "data.root") || key == "train.batch_tokens";
  }
  std::string mechanism() const override { return model_->attention().to_string(); }

 private:
  void check_loss_options(const Settings& train, const LabelOutput& output) const {
    if (output.takes_options()) return;
    const std::string why = ", but the loss of model.output has neither classes to weigh nor labels to smooth";
    if (!settings_.class_weights.empty()) train.refuse("class_weights", "is given", why);
    if (settings_.label_smoothing > 0) train.refuse("label_smoothing", "is given", why);
  }

  /// Loads the models that this one is trained with.
  void add_other_runs(const Settings& train, const TextReader& reader) {
    if (const std::string& run = settings_.guide.run; !run.empty()) {
      Classifier guide = load_other_run(train.at("guide"), run, reader, labels_, at::kCPU);
      guide_settings_ = read_config(run)["model"];
      if (guide.model().has_guide())
        train.at("guide").refuse("run", "is '", run, "', which has a guide itself; expected one without");
      model_->set_guide(guide.shared_model());
    }
    if (settings_.adversary.active())
      base_ = load_other_run(train.at("adversary"), settings_.adversary.run, reader, labels_, device_);
  }

  LabelSet learned() const {
    LabelSet labels = learned_labels(form_, corpus_.train.labels, corpus_.train.origins, corpus_.classes);
    labels.threshold = settings_.threshold;
    return labels;
  }

  std::vector<std::string> all_texts() const {
    std::vector<std::string> all;
    for (const auto& texts : corpus_.train.texts) all.insert(all.end(), texts.begin(), texts.end());
    return all;
  }

  TextSupervision::Gold gold_of(const Examples& examples, const TextReader& reader) const {
    TextSupervision::Gold gold(examples.size());
    for (size_t i = 0; i < examples.rationales.size(); ++i)
      gold[i] = token_weights(examples.rationales[i], examples.texts[i].front(), reader);
    return gold;
  }
  static int64_t count_gold(const TextSupervision::Gold& gold) {
    return std::count_if(gold.begin(), gold.end(), [](const auto& one) { return !one.empty(); });
  }

  /// The mean distance of attention from the rationales of the development set.
  double attention_loss() {
    const at::NoGradGuard no_grad;
    double sum = 0;
    for (const Rows& rows : batches_by_length(dev_.ids.lengths(), settings_.eval_batch_tokens)) {
      const TextBatch batch = collate(dev_.ids, rows).to(device_);
      const Pooled pooled = model_->pool(batch, {}, TextSupervision::outputs());
      if (const Tensor more = supervision_->distance(pooled, batch, dev_gold_); more.defined())
        sum += more.item<double>();
    }
    return sum / static_cast<double>(count_gold(dev_gold_));
  }

  /// Mean distances from the base of an adversary on the development set.
  void add_distances(Figures& figures) {
    Adversary::Figures sum;
    for (const Rows& rows : batches_by_length(dev_.ids.lengths(), settings_.eval_batch_tokens)) {
      const auto found = adversary_->figures(*model_, collate(dev_.ids, rows).to(device_));
      sum.loss += found.loss;
      sum.tvd += found.tvd;
      sum.jsd += found.jsd;
    }
    const auto texts = static_cast<double>(dev_.labels.size());
    figures.insert(figures.end(),
                   {{kAdversaryLoss, sum.loss / texts}, {"tvd", sum.tvd / texts}, {"jsd", sum.jsd / texts}});
  }

  void set_vectors(const std::string& file, const Tokenizer& tokenizer) {
    std::unordered_map<std::string, int64_t> rows;
    for (int64_t id = Tokenizer::kEnd + 1; id < tokenizer.size(); ++id) rows[tokenizer.piece(id)] = id;
    const WordVectors vectors = read_word_vectors(file, rows);
    check(vectors.dim == model_->embedding_dim(), file, ": got vectors of ", vectors.dim, " numbers, expected ",
          model_->embedding_dim(), ", which is model.embedding.dim; set it to ", vectors.dim);
    std::vector<int64_t> found;
    for (size_t id = 0; id < vectors.found.size(); ++id)
      if (vectors.found[id]) found.push_back(static_cast<int64_t>(id));
    const Tensor ids = at::tensor(found, at::kLong);
    model_->set_vectors(ids, at::tensor(vectors.values, at::kFloat).view({-1, vectors.dim}).index_select(0, ids));
    vectors_found_ = vectors.count_found;
  }

  /// float [C] on the device; undefined: 1 each.
  Tensor weights_of(const Settings& train) const {
    if (settings_.class_weights.empty()) return {};
    std::vector<double> counts(static_cast<size_t>(labels_.size()), 0), weights(counts.size(), 1);
    double all = 0;
    for (const auto& label : train_.labels)
      for (const int64_t c : label.classes) {
        ++counts[static_cast<size_t>(c)];
        ++all;
      }
    for (const auto& written : settings_.class_weights) {
      if (written == kBalanced) {
        for (size_t c = 0; c < counts.size(); ++c)
          weights[c] = all / (static_cast<double>(counts.size()) * std::max(1.0, counts[c]));
        continue;
      }
      const size_t equals = written.rfind('=');
      double weight = 0;
      read_number(written.substr(equals + 1), weight);
      const std::string name = written.substr(0, equals);
      const auto found = std::find(labels_.names.begin(), labels_.names.end(), name);
      if (found == labels_.names.end())
        train.refuse("class_weights", "has the class '", name, "'", suggestion(name, labels_.names),
                     "; expected one of ", joined(labels_.names));
      weights[static_cast<size_t>(found - labels_.names.begin())] = weight;
    }
    return at::tensor(weights, at::kDouble).to(at::kFloat).to(device_);
  }

  /// What LabelOutput::loss() wants for the rows of a batch.
  Tensor wanted_of(const TextBatch& batch) const {
    const auto B = static_cast<int64_t>(batch.rows.size());
    if (form_ == LabelForm::tokens) {
      const Tensor wanted = at::full({B, batch.columns.front().ids.size(1)}, LabelOutput::kNoLabel, at::kLong);
      for (int64_t i = 0; i < B; ++i) {
        const auto& pieces = train_.pieces[static_cast<size_t>(batch.rows[static_cast<size_t>(i)])];
        std::copy(pieces.begin(), pieces.end(), wanted.data_ptr<int64_t>() + i * wanted.size(1));
      }
      return wanted;
    }
    Tensor wanted = form_ == LabelForm::one      ? at::zeros({B}, at::kLong)
                    : form_ == LabelForm::number ? at::zeros({B}, at::kFloat)
                                                 : at::zeros({B, labels_.size()}, at::kFloat);
    for (int64_t i = 0; i < B; ++i) {
      const Label& label = train_.labels[static_cast<size_t>(batch.rows[static_cast<size_t>(i)])];
      if (form_ == LabelForm::one) wanted.data_ptr<int64_t>()[i] = label.classes.front();
      if (form_ == LabelForm::number)
        wanted.data_ptr<float>()[i] = static_cast<float>((label.number - labels_.mean) / labels_.deviation);
      if (form_ == LabelForm::several)
        for (const int64_t c : label.classes) wanted.data_ptr<float>()[i * labels_.size() + c] = 1;
    }
    return wanted;
  }

  /// Terms of the loss: texts, or words that have a label and were read.
  int64_t count_of(const TextBatch& batch) const {
    if (form_ != LabelForm::tokens) return static_cast<int64_t>(batch.rows.size());
    int64_t count = 0;
    for (const int64_t row : batch.rows)
      for (const int64_t label : train_.pieces[static_cast<size_t>(row)]) count += label >= 0 ? 1 : 0;
    return count;
  }

  Json evaluated(const Examples& examples, const EncodedSet& set, const std::string& path) {
    const auto predictions = classifier_->predict(examples.texts, settings_.eval_batch_tokens);
    if (!path.empty()) write_predictions(path, *classifier_, predictions, examples.labels);
    return label_report({labels_, predictions, set.labels});
  }

  Settings model_settings_;
  LabelForm form_;
  ClassifySettings settings_;
  uint64_t seed_;
  at::Device device_;
  LabeledCorpus corpus_;
  LabelSet labels_;
  EncodedSet train_, dev_, test_;
  IdPairs lengths_;
  std::unique_ptr<Batches> batches_;
  std::shared_ptr<ClassificationModel> model_;
  std::unique_ptr<Classifier> classifier_;
  std::unique_ptr<LabelReward> reward_;
  std::unique_ptr<TextSupervision> supervision_;
  std::unique_ptr<Adversary> adversary_;
  std::optional<Classifier> base_;  // of the adversary, until it has it
  Json guide_settings_;             // of its model; null without a guide
  TextSupervision::Gold train_gold_, dev_gold_;
  Tensor class_weights_;
  std::string frozen_vectors_;  // file of vectors that are not trained: a checkpoint has what is trained; or ""
  int64_t vectors_found_ = -1;  // words with a pretrained vector; -1: none were read
};

std::shared_ptr<Task> make_classify(const Options&, const Settings& recipe, const TaskEnvironment& environment) {
  return std::make_shared<Classify>(recipe, environment);
}

const Task::Parts::Entry classify_entry{
    kClassify, make_classify, {.formula = "p(y | x)", .paper = "-", .choose = "labels of texts"}};

}  // namespace
}  // namespace heed
