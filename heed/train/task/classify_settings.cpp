#include "heed/train/task/classify_settings.h"

#include <algorithm>

#include "heed/base/recipe_keys.h"
#include "heed/base/scalar.h"
#include "heed/data/labeled/label_column.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

constexpr const char* kClassifyTask = "classify";

const RecipeTable<ClassifySettings> text_keys{
    {"tokenizer", &ClassifySettings::tokenizer,
     "`words(vocabulary, min_count, punctuation)`, `characters(...)`, `bpe(merges=8000)`"},
    {"max_length",
     &ClassifySettings::max_length,
     "tokens of a text that are read, the rest is cut; 0: all",
     {.min = 0, .max = 1 << 20}}};

const RecipeTable<ClassifySettings> classify_loss_keys{
    {"batch_tokens",
     &ClassifySettings::batch_tokens,
     "tokens in a batch, padding included",
     {.min = 1, .max = 1 << 24}},
    {"label_smoothing", &ClassifySettings::label_smoothing, "label smoothing", {.min = 0, .max = below(1)}},
    {"class_weights",
     &ClassifySettings::class_weights,
     "weights of classes in the loss: `[rare=5]`; `balanced`: inverse to their number of examples",
     {.default_text = "1 each"}},
    {"penalty",
     &ClassifySettings::penalty,
     "weight of the penalty of `self_attentive(structured)` (Lin et al., 2017)",
     {.min = 0}},
    {"reward", &ClassifySettings::reward, "weight of learning by reward, for `hard` and `reinforced`", {.min = 0}},
    {"soft_share",
     &ClassifySettings::soft_share,
     "share of the batches on which `hard` trains with softmax weights (Xu et al., 2015)",
     {.min = 0, .max = 1}},
    {"deterministic", &ClassifySettings::deterministic,
     "on a GPU, whether gradients of attention are the same bits in every run; `false` may be faster"}};

const RecipeTable<ClassifySettings> classify_eval_keys{
    {"monitor",
     &ClassifySettings::monitor,
     "figure of the development set that decides which weights are kept: `accuracy`, `f1`, `spearman`, `loss`, "
     "`attention_loss`; of an adversary also `adversary_loss`, `tvd`",
     {.default_text = "accuracy; f1 of several labels and of words; loss of numbers; adversary_loss"}},
    {"threshold",
     &ClassifySettings::threshold,
     "smallest probability of a class that is predicted, with `sigmoid`",
     {.min = 0, .max = 1}},
    {"batch_tokens", &ClassifySettings::eval_batch_tokens, "tokens at once", {.min = 1, .max = 1 << 24}}};

const RecipeSection::Entry classify_data_section{{"data", 111, "", [] { return text_keys.list(); }, kClassifyTask}};
const RecipeSection::Entry classify_train_section{
    {"train", 141, "Training.", [] { return classify_loss_keys.list(); }, kClassifyTask}};
const RecipeSection::Entry classify_eval_section{
    {"eval", 150, "Validation and evaluation.", [] { return classify_eval_keys.list(); }, kClassifyTask}};

std::string default_monitor(LabelForm form) {
  if (form == LabelForm::number) return "loss";
  return form == LabelForm::one ? "accuracy" : "f1";
}

/// The figures of label_figures() that may decide.
std::vector<std::string> monitors(LabelForm form) {
  if (form == LabelForm::number) return {"loss", "mse", "spearman", kAttentionLoss};
  return {"loss", "accuracy", "f1", kAttentionLoss};
}

}  // namespace

ClassifySettings read_classify_settings(const Settings& recipe, LabelForm form) {
  const Settings data = recipe.at("data"), eval = recipe.at("eval");
  ClassifySettings s;
  s.data = read_labeled_options(data, form == LabelForm::one);
  s = text_keys.read(data, std::move(s));
  try {
    Catalogue<TokenizerTrainer>::make(s.tokenizer);
  } catch (const Error& error) {
    data.refuse("tokenizer", "is '", s.tokenizer, "': ", error.what());
  }
  const Settings train = recipe.at("train");
  s = classify_eval_keys.read(eval, classify_loss_keys.read(train, std::move(s)));
  s.supervision = read_supervision(train, !s.data.train_rationales.empty());
  if (s.supervision.active() && s.data.train_rationales.empty() && !s.data.is_reviews())
    train.refuse("supervision", "is given, but data.train_rationales is missing, expected weights of words");
  s.guide = read_guide(train);
  s.adversary = read_adversary(train);
  if (s.adversary.active() && form != LabelForm::one && form != LabelForm::several)
    train.at("adversary")
        .refuse("run", "is given, but model.output has no classes of texts; expected softmax or sigmoid");
  if (s.adversary.active() && !s.guide.run.empty())
    train.at("adversary")
        .refuse("run", "is given together with train.guide, whose weights it could not change; expected ",
                "one of them");
  if (s.monitor.empty()) s.monitor = s.adversary.active() ? kAdversaryLoss : default_monitor(form);
  auto known = monitors(form);
  if (s.adversary.active()) known.insert(known.end(), {kAdversaryLoss, "tvd"});
  if (std::find(known.begin(), known.end(), s.monitor) == known.end())
    eval.refuse("monitor", "is '", s.monitor, "'", suggestion(s.monitor, known), "; expected one of ", joined(known));
  if (s.monitor == kAttentionLoss &&
      (!s.supervision.active() || (s.data.dev_rationales.empty() && !s.data.is_reviews())))
    eval.refuse("monitor", "is ", kAttentionLoss, ", which needs train.supervision and data.dev_rationales");
  for (const auto& written : s.class_weights) {
    const size_t equals = written.rfind('=');
    double weight = 0;
    if (written != kBalanced &&
        (equals == std::string::npos || !read_number(written.substr(equals + 1), weight) || !(weight > 0)))
      recipe.at("train").refuse("class_weights", "has '", written,
                                "', expected balanced, or a class and its weight, such as rare=2");
  }
  if (form != LabelForm::number && read_label_column(s.data.examples.label).mean)
    data.refuse("label", "is ", s.data.examples.label,
                ", which is a number, but model.output expects classes; expected ",
                "a column, or model.output: regression");
  if (form == LabelForm::tokens && s.data.examples.sentences != "none")
    data.refuse("sentences", "is ", s.data.examples.sentences, ", but each word is to be labeled; expected none");
  return s;
}

bool is_better_smaller(const std::string& figure) {
  return figure == "loss" || figure == "mse" || figure == "tvd" || figure == kAttentionLoss || figure == kAdversaryLoss;
}

}  // namespace heed
