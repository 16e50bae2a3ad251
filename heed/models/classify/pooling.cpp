#include "heed/models/classify/pooling.h"

#include <algorithm>

#include "heed/attention/align.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/score.h"
#include "heed/base/excerpt.h"
#include "heed/data/recipe.h"
#include "heed/structures/preset.h"

namespace heed {
namespace {

constexpr const char *kPoolMechanism = "self_attentive + softmax", *kMean = "mean", *kFixed = "fixed",
                     *kPoolQuery = "learned";
constexpr int64_t kTrialWidth = 8;  // of the features of a structure that is made to be asked

const RecipeTable<PoolingValues> pooling_table{
    {"mechanism",
     &PoolingValues::mechanism,
     "spec of the mechanism, `mean` or `fixed`; `model.attention: additive + softmax` is short for it",
     {.default_text = "that of the structure's paper, or self_attentive + softmax"}},
    {"score", &PoolingValues::score, "score of the mechanism", {.default_text = "that of `mechanism`"}},
    {"align", &PoolingValues::align, "alignment of the mechanism", {.default_text = "that of `mechanism`"}},
    {"dimensionality",
     &PoolingValues::dimensionality,
     "dimensionality of the mechanism",
     {.default_text = "that of `mechanism`"}},
    {"structure",
     &PoolingValues::structure,
     "structure around the mechanism: `hierarchical(encoder=gru)`",
     {.default_text = "one query attends to the features"}},
    {"preset", &PoolingValues::preset, "structure and mechanism of a paper: `yang_2016`", {.default_text = "none"}},
    {"num_heads", &PoolingValues::num_heads, "heads", {.min = 1, .max = 1024}},
    {"hidden_dim",
     &PoolingValues::hidden_dim,
     "hidden width of the score; 0: the width of the keys",
     {.min = 0, .max = kMaxWidth}},
    {"dropout", &PoolingValues::dropout, "dropout on the weights in training", {.min = 0, .max = 0.99}}};

bool has_own_query(const std::string& mechanism) {
  return Mechanism::parse(mechanism).score().own_queries() > 0;
}

std::string name_of(const std::string& spec) {
  return spec.substr(0, spec.find('('));
}

}  // namespace

RecipeKeyList pooling_keys() {
  return pooling_table.list();
}

Pooling::Pooling(const Settings& attention, const Settings& query, const PoolingInputs& inputs)
    : tokens_(inputs.tokens) {
  values_ = pooling_table.read(attention);
  query_ = component<PoolQuery>(query, kPoolQuery);
  if (values_.mechanism == kMean || values_.mechanism == kFixed) {
    for (const auto& [key, value] : {std::pair{"structure", values_.structure}, {"preset", values_.preset}})
      if (!value.empty())
        attention.refuse(key, "is '", excerpt(value), "', but the attention is ", values_.mechanism, "; expected one");
    if (inputs.columns.size() != 1)
      attention.refuse("mechanism", "is ", values_.mechanism, ", which takes one text, but data.text has ",
                       joined(inputs.columns), "; expected a structure, such as interactive");
    if (inputs.tokens)
      attention.refuse("mechanism", "is ", values_.mechanism, ", but each word is to be labeled; expected ",
                       "structure: self_attentive(features)");
    baseline_ = values_.mechanism;
    return;
  }
  resolve(attention);
  try {
    const auto takes = structure(spec_, options({kTrialWidth}))->takes();
    match(attention, inputs, takes);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.rfind("recipe: ", 0) == 0) throw;
    attention.refuse(values_.preset.empty() ? "structure" : "preset", "is '", spec_, "' with '", mechanism_,
                     "', which does not fit here: ", what);
  }
}

/// The specs of the structure and of the mechanism inside.
void Pooling::resolve(const Settings& attention) {
  if (!values_.preset.empty()) {
    if (!values_.structure.empty()) attention.refuse("preset", "is given together with a structure, expected one");
    const auto known = preset_names();
    if (std::find(known.begin(), known.end(), values_.preset) == known.end())
      attention.refuse("preset", "is '", excerpt(values_.preset), "'", suggestion(values_.preset, known),
                       "; expected one of ", joined(known));
    const Preset& paper = find_preset(values_.preset);
    spec_ = paper.structure;
    mechanism_ = paper.mechanisms.front();
  } else {
    spec_ = values_.structure.empty() && tokens_ ? "self_attentive(features)" : values_.structure;
  }
  const auto structures = Structure::Parts::names();
  if (!spec_.empty() && std::find(structures.begin(), structures.end(), name_of(spec_)) == structures.end())
    attention.refuse("structure", "is '", excerpt(spec_), "'", suggestion(name_of(spec_), structures),
                     "; expected a structure of the catalogue");
  if (!values_.mechanism.empty()) mechanism_ = values_.mechanism;
  const bool own_scores = !spec_.empty() && structure(spec_, options({kTrialWidth}))->own_scores();
  const std::string inside = !mechanism_.empty() ? mechanism_
                             : spec_.empty()     ? kPoolMechanism
                                                 : structure(spec_, options({kTrialWidth}))->inside();
  mechanism_ = inside;
  if (own_scores) {
    if (!values_.score.empty() || !values_.dimensionality.empty())
      attention.refuse(values_.score.empty() ? "dimensionality" : "score", "is given, but ", spec_,
                       " computes its own scores; expected `align` alone");
    if (!values_.align.empty()) mechanism_ = values_.align;
  } else {
    try {
      const auto parts = Mechanism::parse(inside).parts();
      const std::string score = values_.score.empty() ? parts.score.to_string() : values_.score,
                        align = values_.align.empty() ? parts.align.to_string() : values_.align,
                        many =
                            values_.dimensionality.empty() ? parts.dimensionality.to_string() : values_.dimensionality;
      mechanism_ = Mechanism::parse(score + " + " + align + (many == "single" ? "" : ", " + many)).to_string();
    } catch (const Error& error) {
      attention.refuse("mechanism", "is '", excerpt(inside), "': ", error.what());
    }
  }
  if (spec_.empty()) spec_ = has_own_query(mechanism_) ? "self_attentive" : "singular";
}

/// Which text is which input of the structure.
void Pooling::match(const Settings& attention, const PoolingInputs& inputs, const StructureSignature& takes) {
  const std::string key = values_.preset.empty() ? "structure" : "preset",
                    shown = values_.preset.empty() ? spec_ : values_.preset;
  takes_query_ = takes.query;
  inputs_ = static_cast<int64_t>(takes.features.size());
  if (takes.edges) attention.refuse(key, "is ", shown, ", which needs the edges of a graph; texts have none");
  if (takes.depth > 2) attention.refuse(key, "is ", shown, ", which needs ", takes.depth, " levels; documents have 2");
  documents_ = takes.depth == 2;
  if (documents_ && !inputs.documents)
    attention.refuse(key, "is ", shown, ", which needs documents of sentences; expected data.sentences: rule, or tab");
  if (documents_ && tokens_)
    attention.refuse(key, "is ", shown, ", which reads documents, but each word is to be labeled; expected ",
                     "structure: self_attentive(features)");
  if (inputs_ == 1 || (takes.same_length && inputs.columns.size() == 1)) {
    if (inputs.columns.size() != 1)
      attention.refuse(key, "is ", shown, ", which takes one text, but data.text has ", joined(inputs.columns));
    return;
  }
  order_.clear();
  std::vector<std::string> missing;
  for (const auto& name : takes.features) {
    const auto found = std::find(inputs.columns.begin(), inputs.columns.end(), name);
    if (found == inputs.columns.end())
      missing.push_back(name);
    else
      order_.push_back(static_cast<size_t>(found - inputs.columns.begin()));
  }
  if (!missing.empty())
    attention.refuse(key, "is ", shown, ", which needs the texts ", joined(takes.features), "; data.text has ",
                     joined(inputs.columns), ", missing: ", joined(missing), "; name the columns: data.text: [",
                     takes.features[0], "=1, ", takes.features[1], "=2, ...]");
  if (inputs.columns.size() > takes.features.size())
    attention.refuse(key, "is ", shown, ", which takes ", joined(takes.features), ", but data.text has ",
                     joined(inputs.columns));
}

StructureOptions Pooling::options(const std::vector<int64_t>& widths) const {
  return {.features = widths,
          .hidden_dim = values_.hidden_dim,
          .num_heads = values_.num_heads,
          .mechanism = mechanism_,
          .dropout = values_.dropout};
}

void Pooling::build(const std::vector<int64_t>& widths) {
  widths_ = widths;
  if (!attends()) return;
  structure_ = register_module("structure", structure(spec_, options(widths)));
  if (takes_query_) {
    query_->build(widths.front());
    register_module("query", query_);
  }
  const torch::NoGradGuard no_grad;
  const bool training = is_training();
  eval();
  const auto contexts = [&](int64_t length) {
    StructureInput in = random_inputs(*structure_, 2, length);
    return structure_->forward(in).context.size(1);
  };
  by_position_ = contexts(3) != contexts(5);
  train(training);
  check(!tokens_ || by_position_, "recipe: model.attention.structure is ", spec_,
        ", which has one context for all words, but each word is to be labeled; expected one with a context for each, ",
        "such as self_attentive(features)");
}

Pooled Pooling::forward(const std::vector<Encoded>& encoded, const Call& call) {
  const Encoded& first = encoded.front();
  if (baseline_ == kFixed) return {.rows = first.last};
  if (baseline_ == kMean) return {.rows = mean(first.features).squeeze(1)};
  StructureInput in{.call = call};
  for (const auto& one : encoded) in.features.push_back(one.features);
  if (takes_query_) in.query = query_->query(first.features, first.last);
  Pooled pooled;
  pooled.output = structure_->forward(in);
  const Tensor& context = pooled.output.context;
  if (tokens_) {
    pooled.rows = context;
    pooled.keep = pooled.output.keep.defined() ? pooled.output.keep : first.features.keep;
  } else if (by_position_) {
    pooled.rows = mean({context, pooled.output.keep}).squeeze(1);
  } else {
    pooled.rows = context.flatten(1);
  }
  return pooled;
}

Pooled Pooling::example() {
  const torch::NoGradGuard no_grad;
  const bool training = is_training();
  eval();
  std::vector<Encoded> all;
  for (const int64_t width : widths_) {
    std::vector<int64_t> shape{2, 3, width};
    if (documents_) shape.insert(shape.begin() + 1, 2);
    all.push_back({{at::randn(shape), {}}, at::randn({2, width})});
  }
  Pooled pooled = forward(all, {});
  train(training);
  return pooled;
}

std::string Pooling::to_string() const {
  if (!attends()) return baseline_;
  const bool plain = spec_ == "self_attentive" || spec_ == "singular";
  return (plain ? "" : spec_ + ": ") + mechanism_;
}

bool Pooling::has_channels() const {
  return attends() && mechanism_.find('+') != std::string::npos &&
         Mechanism::parse(mechanism_).dimensionality() != Dimensionality::single;
}

}  // namespace heed
