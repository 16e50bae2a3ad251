#include "heed/explain/explained_translator.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/attention/mechanism.h"
#include "heed/base/check.h"
#include "heed/base/path.h"
#include "heed/data/recipe.h"
#include "heed/explain/drawn_texts.h"
#include "heed/models/translate/model.h"

namespace heed {
namespace {

constexpr const char* kEndMarker = "</s>";

/// Floats that a part of the variations may take where no gradient is kept.
constexpr int64_t kFloatsAtOnce = 1 << 24;

/// Tokens as they are shown: a word of one token is itself, although it may be unknown.
std::vector<std::string> shown_tokens(const Tokenizer& tokenizer, const Segmentation& text) {
  std::vector<int64_t> pieces(text.words.size(), 0);
  for (const int64_t word : text.word)
    if (word >= 0) ++pieces[static_cast<size_t>(word)];
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.ids.size(); ++i) {
    const int64_t word = text.word[i];
    const bool whole = word >= 0 && pieces[static_cast<size_t>(word)] == 1;
    tokens.push_back(whole ? text.words[static_cast<size_t>(word)] : tokenizer.piece(text.ids[i]));
  }
  return tokens;
}

Tensor zero_like(const Tensor& x) {
  return at::zeros({}, x.options());
}

/// Weights of the aligning step with all axes, [B, H, P, S, W], and as they are returned.
class WeightAxes {
 public:
  WeightAxes() = default;
  /// weights [B, (H,) P, S, (W)]
  WeightAxes(const Tensor& weights, bool channels) : channels_(channels), heads_(weights.dim() == (channels ? 5 : 4)) {}

  Tensor all(const Tensor& weights) const {
    const Tensor wide = channels_ ? weights : weights.unsqueeze(-1);
    return heads_ ? wide : wide.unsqueeze(1);
  }
  Tensor returned(const Tensor& weights) const {
    const Tensor narrow = channels_ ? weights : weights.squeeze(-1);
    return heads_ ? narrow : narrow.squeeze(1);
  }
  bool has_heads() const { return heads_; }
  int64_t queries(const Tensor& weights) const { return weights.size(weights.dim() - (channels_ ? 3 : 2)); }

 private:
  bool channels_ = false, heads_ = false;
};

class TranslatorBatch final : public ExplainedBatch {
 public:
  TranslatorBatch(TranslationModel& model, const IdPairs& pairs, std::vector<size_t> chosen, at::Device device)
      : model_(model) {
    items = std::move(chosen);
    const at::NoGradGuard no_grad;
    batch_ = collate(pairs, Rows(items.begin(), items.end())).to(device);
    S_ = batch_.source.size(1);
    P_ = batch_.target_in.size(1);
    keep = batch_.source_keep.narrow(1, 1, S_ - 1).contiguous();  // a token, unlike the end marker, has one after it
    token_ = at::cat({keep, at::zeros({keep.size(0), 1}, keep.options())}, 1);
    positions = batch_.target_keep;
    Call call;
    call.outputs.weights = model_.attention().has_weights();
    encoded_ = model_.encode(model_.embed_source(batch_));
    const Predicted predicted = model_.answer(batch_, encoded_, call);
    outputs = probabilities(predicted, keep.size(0));
    read_weights(predicted.output.steps);
  }

  Tensor outputs_with(const Tensor& rows, const Tensor& given) override {
    if (!model_.attention().has_weights()) return as_they_are(rows, given);
    return in_parts(rows, given, [&](const Tensor& some, const Tensor& weights_of) {
      return with_weights(some, replaced(some, weights_of));
    });
  }

  Tensor outputs_permuted(const Tensor& rows, const Tensor& order) override {
    if (!model_.attention().has_weights()) return as_they_are(rows, order);
    return in_parts(rows, order, [&](const Tensor& some, const Tensor& order_of) {
      const Tensor own = own_.index_select(0, some);  // [n, H, P, S, W]
      const Tensor last = at::full({some.size(0), P_, 1}, S_ - 1, order_of.options());
      const Tensor from = at::cat({order_of, last}, 2).unsqueeze(1).unsqueeze(-1);  // [n, 1, P, S, 1]
      return with_weights(some, own.gather(3, from.expand(own.sizes())));
    });
  }

  Tensor outputs_without(const Tensor& rows, const Tensor& removed) override {
    return in_parts(rows, removed, [&](const Tensor& some, const Tensor& removed_of) {
      PairBatch batch = selected(some);
      const Tensor none = at::zeros({some.size(0), 1}, removed_of.options());
      const Tensor gone = at::cat({removed_of, none}, 1).logical_and(token_.index_select(0, some));
      const Tensor left = batch.source_keep.logical_and(gone.logical_not());  // [n, S]
      const Tensor position = at::arange(S_, batch.source.options());
      const Tensor order =
          (left.logical_not().to(at::kLong) * S_ + position).argsort(int64_t{1});  // what is left comes first
      const Tensor count = left.sum(1);
      const int64_t width = count.max().item<int64_t>();
      batch.source_keep = (position < count.unsqueeze(1)).narrow(1, 0, width);
      batch.source = batch.source.gather(1, order)
                         .narrow(1, 0, width)
                         .masked_fill(batch.source_keep.logical_not(), Tokenizer::kPad);
      return probabilities(model_.predict(batch), some.size(0));
    });
  }

  Tensor embedded() override {
    const at::NoGradGuard no_grad;
    const Tensor rows = model_.embed_source(batch_).rows.narrow(1, 0, S_ - 1);
    return at::where(keep.unsqueeze(-1), rows, zero_like(rows));
  }

  Tensor outputs_from(const Tensor& rows, const Tensor& given, bool fixed_weights) override {
    return in_parts(rows, given, [&](const Tensor& some, const Tensor& embedded_of) {
      const PairBatch batch = selected(some);
      const Features source = model_.embed_source(batch);
      const Tensor end = at::zeros({some.size(0), 1, embedded_of.size(2)}, embedded_of.options());
      const Tensor token = token_.index_select(0, some).unsqueeze(-1);
      const Tensor mixed = at::where(token, at::cat({embedded_of, end}, 1), source.rows);
      Call call;
      if (fixed_weights) call.replace_weights = [](const Tensor& own, const Tensor&) { return own.detach(); };
      return probabilities(model_.answer(batch, model_.encode(source.with_rows(mixed)), call), some.size(0));
    });
  }

  Tensor rollout() override {
    const at::NoGradGuard no_grad;
    Call call;
    call.outputs.weights = true;
    const Steps steps = model_.attention_steps(batch_, call);
    Tensor through;  // [B, S, S], and an axis more for a class token
    for (const auto& [name, attended] : steps) {
      if (!name.starts_with("encoder.")) continue;
      const Tensor own = model_.head_weights(steps, name).mean(1);
      const Tensor layer = normalized(own + at::eye(own.size(1), own.options()));
      through = through.defined() ? at::matmul(layer, through) : layer;
    }
    if (!through.defined()) return {};
    const int64_t first = through.size(1) - S_;  // after a class token
    const Tensor cross = own_.mean(at::IntArrayRef{1, 4});
    const Tensor all = at::matmul(cross, through.narrow(1, first, S_).narrow(2, first, S_));  // [B, P, S]
    return of_tokens(all);
  }

  Tensor value_norms() override {
    if (!model_.attention().has_weights()) return keep.to(at::kFloat);  // no token has a value of its own
    const at::NoGradGuard no_grad;
    PairBatch first = batch_;  // values are the same for all targets
    first.real = Tensor();
    for (Tensor* x : {&first.target_in, &first.target_out, &first.target_keep}) *x = x->narrow(1, 0, 1);
    Tensor norms;  // [B, S]
    Call call;
    call.replace_weights = [&](const Tensor& own, const Tensor& values) {
      const Tensor each = values.norm(2, -1).to(at::kFloat);  // [B, (H,) S]
      norms = axes_.has_heads() ? each.mean(1) : each;
      return own;
    };
    model_.answer(first, encoded_, call);
    return at::where(keep, norms.narrow(1, 0, S_ - 1), zero_like(norms));
  }

 private:
  /// [n, P, C], 0 at padding.
  Tensor probabilities(const Predicted& predicted, int64_t n) const {
    const Tensor found = predicted.logits().to(at::kFloat).softmax(-1);  // [targets, C]
    const int64_t C = found.size(1);
    if (found.size(0) == n * P_) return found.view({n, P_, C});
    const Tensor offset = predicted.row * P_ + predicted.position;
    return at::zeros({n * P_, C}, found.options()).index_copy(0, offset, found).view({n, P_, C});
  }

  /// weights [B, P, S] without the end marker and padding.
  Tensor of_tokens(const Tensor& all) const {
    const Tensor real = positions.unsqueeze(-1).logical_and(keep.unsqueeze(1));
    return at::where(real, all.narrow(2, 0, S_ - 1), zero_like(all));
  }

  void read_weights(const Steps& steps) {
    if (model_.attention().has_weights()) {
      const Tensor found = step_of(steps, model_.aligning_step(), "explain").weights.to(at::kFloat);
      const bool channels =
          Mechanism::parse(model_.attention().spec().mechanism).dimensionality() != Dimensionality::single;
      axes_ = WeightAxes(found, channels);
      own_ = axes_.all(found);
    } else {
      const Tensor all = batch_.source_keep.to(at::kFloat);
      own_ = normalized(all).view({-1, 1, 1, S_, 1}).expand({-1, 1, P_, S_, 1});
    }
    weights = of_tokens(own_.mean(at::IntArrayRef{1, 4}));
  }

  /// given [n, P, T] as weights of all heads and features, [n, H, P, S, W].
  Tensor replaced(const Tensor& rows, const Tensor& given) const {
    const Tensor own = own_.index_select(0, rows), zero = zero_like(own);
    const Tensor token = token_.index_select(0, rows).view({-1, 1, 1, S_, 1});
    const Tensor end = at::zeros({given.size(0), P_, 1}, given.options());
    const Tensor wide = at::cat({given, end}, 2).unsqueeze(1).unsqueeze(-1);  // [n, 1, P, S, 1]
    const Tensor sum = at::where(token, wide, zero).sum(3, /*keepdim=*/true);
    const Tensor share = at::where(token, own, zero).sum(3, /*keepdim=*/true);  // [n, H, P, 1, W]
    const Tensor usable = at::isfinite(sum).logical_and(sum != 0);
    const Tensor factor = share / at::where(usable, sum, at::ones({}, sum.options()));
    return at::where(token, at::where(usable, wide, zero) * factor, own);
  }

  /// weights [n, H, P, S, W]
  Tensor with_weights(const Tensor& rows, const Tensor& all) {
    int64_t next = 0;  // a recurrent decoder asks for one position after another
    Call call;
    call.replace_weights = [&](const Tensor& own, const Tensor&) {
      const int64_t count = axes_.queries(own);
      const Tensor some = all.narrow(2, next, count).to(own.scalar_type());
      next += count;
      return axes_.returned(some);
    };
    const Predicted predicted = model_.answer(selected(rows), encoded(rows), call);
    check(next == P_, "explain: got weights of ", next, " positions, expected ", P_,
          ": the structure around the mechanism has weights that cannot be replaced");
    return probabilities(predicted, rows.size(0));
  }

  PairBatch selected(const Tensor& rows) const {
    PairBatch some = batch_;
    some.real = Tensor();
    for (Tensor* x : {&some.source, &some.source_keep, &some.target_in, &some.target_out, &some.target_keep})
      *x = x->index_select(0, rows);
    return some;
  }

  TranslationModel::EncodedSource encoded(const Tensor& rows) const {
    const auto of = [&](const Tensor& x) { return x.defined() ? x.index_select(0, rows) : x; };
    const Features& seen = encoded_.seen;
    return {{of(seen.rows), of(seen.keep), seen.real_first}, of(encoded_.summary)};
  }

  /// compute(rows, given), in parts of bounded memory where no gradient is kept.
  template <typename Compute>
  Tensor in_parts(const Tensor& rows, const Tensor& given, const Compute& compute) {
    if (at::GradMode::is_enabled() && given.requires_grad()) return compute(rows, given);
    const at::NoGradGuard no_grad;
    const int64_t n = rows.size(0), C = outputs.size(2), of_weights = own_.numel() / std::max<int64_t>(1, own_.size(0));
    const int64_t at_once = std::max<int64_t>(1, kFloatsAtOnce / (2 * P_ * C + 4 * of_weights));
    if (n > 0 && n <= at_once) return compute(rows, given);
    const Tensor all = at::zeros({n, P_, C}, outputs.options());
    for (int64_t first = 0; first < n; first += at_once) {
      const int64_t count = std::min(at_once, n - first);
      all.narrow(0, first, count).copy_(compute(rows.narrow(0, first, count), given.narrow(0, first, count)));
    }
    return all;
  }

  /// Of a model without weights; its gradient with respect to them is 0.
  Tensor as_they_are(const Tensor& rows, const Tensor& given) const {
    const Tensor all = outputs.index_select(0, rows);
    return given.requires_grad() ? all + at::zeros_like(given).mul(given).sum() : all;
  }

  TranslationModel& model_;
  PairBatch batch_;
  TranslationModel::EncodedSource encoded_;
  int64_t S_ = 0, P_ = 0;  // S_ = T + 1
  Tensor token_;           // bool [B, S]: tokens of the source without its end marker
  WeightAxes axes_;
  Tensor own_;  // [B, H, P, S, W]
};

class ExplainedTranslator final : public ExplainedModel {
 public:
  ExplainedTranslator(const std::string& run, Translator translator, const TextPairs& pairs)
      : translator_(std::move(translator)), device_(translator_.model().parameters().front().device()) {
    TranslationModel& model = translator_.model();
    model.eval();
    for (auto& parameter : model.parameters()) parameter.requires_grad_(false);  // gradients are of what is given
    const AttentionSpec& spec = model.attention().spec();
    facts_ = {.run = run,
              .task = "translate",
              .mechanism = !model.attention().has_weights() ? "fixed"
                           : spec.structure.empty()         ? spec.mechanism
                                                            : spec.structure + ": " + spec.mechanism,
              .attends = model.aligns()};
    const Languages& languages = translator_.languages();
    for (size_t i = 0; i < pairs.size(); ++i) {
      const Segmentation source = languages.source->segment(pairs.source[i]),
                         target = languages.target->segment(pairs.target[i]);
      if (source.ids.empty()) continue;
      ExplainedText text{.id = pairs.origins.empty() ? "pair " + std::to_string(i + 1) : file_name(pairs.origins[i]),
                         .tokens = shown_tokens(*languages.source, source),
                         .word = source.word,
                         .words = source.words,
                         .targets = shown_tokens(*languages.target, target)};
      text.targets.emplace_back(kEndMarker);
      texts_.push_back(std::move(text));
      ids_.source.push_back(source.ids);
      ids_.target.push_back(target.ids);
    }
  }

  const ExplainedFacts& facts() const override { return facts_; }
  const std::vector<ExplainedText>& texts() const override { return texts_; }
  /// Distributions over the vocabulary are what takes memory and time.
  int64_t cost(size_t item) const override {
    constexpr int64_t kClassesOfAToken = 256;
    const int64_t targets = std::ssize(texts_[item].targets);
    return std::ssize(texts_[item].tokens) + targets +
           targets * translator_.languages().target->size() / kClassesOfAToken;
  }
  std::unique_ptr<ExplainedBatch> read(const std::vector<size_t>& items) override {
    return std::make_unique<TranslatorBatch>(translator_.model(), ids_, items, device_);
  }

 private:
  Translator translator_;
  at::Device device_;
  ExplainedFacts facts_;
  std::vector<ExplainedText> texts_;
  IdPairs ids_;
};

/// The pairs that are drawn, with their numbers.
TextPairs drawn(TextPairs pairs, const ExplainedSet& set) {
  TextPairs some;
  for (const size_t i : drawn_texts(pairs.size(), set)) {
    some.source.push_back(std::move(pairs.source[i]));
    some.target.push_back(std::move(pairs.target[i]));
    some.origins.push_back(pairs.origins.empty() ? "pair " + std::to_string(i + 1) : std::move(pairs.origins[i]));
  }
  return some;
}

}  // namespace

std::unique_ptr<ExplainedModel> explained_translator(const std::string& run, Translator translator,
                                                     const TextPairs& pairs) {
  return std::make_unique<ExplainedTranslator>(run, std::move(translator), pairs);
}

std::unique_ptr<ExplainedModel> load_explained_translator(const std::string& run, const ExplainedSet& set,
                                                          at::Device device) {
  Translator translator = Translator::load(run, device);
  const Settings recipe = read_recipe(run + "/recipe.yaml", set.overrides);
  CorpusOptions options = read_corpus_options(recipe.at("data"));
  options.links = options.dev_links = options.train_links = {};
  Corpus corpus = read_corpus(options);
  check(set.set == "dev" || set.set == "test", "explain: got the set ", set.set, ", expected dev or test");
  TextPairs pairs = std::move(set.set == "dev" ? corpus.dev : corpus.test);
  check(pairs.size() > 0, "explain: got the set ", set.set, ", expected a set that the run's recipe has");
  return explained_translator(run, std::move(translator), drawn(std::move(pairs), set));
}

}  // namespace heed
