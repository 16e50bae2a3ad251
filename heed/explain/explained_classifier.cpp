#include "heed/explain/explained_classifier.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/models/classify/model.h"

namespace heed {
namespace {

/// The tokens and words of a text as the model reads it.
void add_tokens(const TextReader& reader, const std::string& text, ExplainedText& out) {
  TextReader whole = reader;
  whole.max_length = 0;
  for (const auto& sentence : whole.read(text).sentences)
    out.words.insert(out.words.end(), sentence.words.begin(), sentence.words.end());
  int64_t first_word = 0;
  for (const auto& sentence : reader.read(text).sentences) {
    std::vector<int64_t> pieces(sentence.words.size(), 0);
    for (const int64_t word : sentence.word)
      if (word >= 0) ++pieces[static_cast<size_t>(word)];
    for (size_t i = 0; i < sentence.ids.size(); ++i) {
      const int64_t word = sentence.word[i];
      const bool whole_word = word >= 0 && pieces[static_cast<size_t>(word)] == 1;  // shown although it is unknown
      out.tokens.push_back(whole_word ? sentence.words[static_cast<size_t>(word)]
                                      : reader.tokenizer->piece(sentence.ids[i]));
      out.word.push_back(word >= 0 ? first_word + word : -1);
    }
    first_word += std::ssize(sentence.words);
  }
}

/// Rows of encoded texts, in any order.
ClassificationModel::EncodedTexts selected(const ClassificationModel::EncodedTexts& all, const Tensor& rows) {
  ClassificationModel::EncodedTexts chosen;
  for (const Encoded& one : all.inputs) {
    Encoded picked = one;
    picked.features.rows = one.features.rows.index_select(0, rows);
    if (one.features.keep.defined()) picked.features.keep = one.features.keep.index_select(0, rows);
    if (one.last.defined()) picked.last = one.last.index_select(0, rows);
    chosen.inputs.push_back(std::move(picked));
  }
  if (all.imposed.defined()) chosen.imposed = all.imposed.index_select(0, rows);
  return chosen;
}

class ClassifierBatch final : public ExplainedBatch {
 public:
  ClassifierBatch(Classifier& classifier, const std::vector<TextIds>& texts, std::vector<size_t> chosen)
      : classifier_(classifier), model_(classifier.model()), documents_(classifier.reader().documents) {
    items = std::move(chosen);
    ids_.documents = documents_;
    ids_.columns.resize(1);
    for (const size_t item : items) ids_.columns.front().push_back(texts[item]);
    Rows rows(items.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
    batch_ = collate(ids_, rows, 0, 1, sizes()).to(classifier.device());
    const Tensor& ids = batch_.columns.front().ids;
    S_ = documents_ ? ids.size(1) : 1;
    L_ = ids.size(-1);
    keep = batch_.columns.front().keep.flatten(1);
    positions = at::ones({ids.size(0), 1}, keep.options());
    const at::NoGradGuard no_grad;
    embedded_ = model_.embed(0, batch_);
    Call call;
    call.outputs.weights = true;
    encoded_ = model_.encode([&](size_t) { return embedded_; }, call);
    encoded_.imposed = model_.guide_weights(batch_);
    read_weights();
  }

  Tensor outputs_with(const Tensor& rows, const Tensor& given) override {
    if (!model_.attention().attends()) return without_attention(rows, given);
    const Tensor wanted = given.squeeze(1);  // [N, T]
    if (sole_values_.defined()) return predicted({.rows = sole_contexts(rows, wanted)});
    return replaced(selected(encoded_, rows), [&, this](const Found& found, const Tensor& own) -> Tensor {
      if (!found.decides) return own;
      const Tensor in_sentences = wanted.reshape({-1, S_, L_});
      if (!documents_) return like(own, in_sentences.flatten(0, 1));
      const Tensor mass = in_sentences.sum(-1, true);                              // [N, S, 1]
      const Tensor own_mass = word_mass_.index_select(0, rows).view({-1, S_, 1});  // of the model, in each sentence
      const Tensor divisor = at::where(own_mass > 0, own_mass, at::ones_like(own_mass));
      if (found.sentences) return like(own, (mass / divisor).squeeze(-1));
      const Tensor inside = in_sentences / at::where(mass > 0, mass, at::ones_like(mass)) * divisor;
      const Tensor kept = word_weights_.index_select(0, rows).view({-1, S_, L_});
      return like(own, at::where(mass > 0, inside, kept).flatten(0, 1));
    });
  }

  Tensor outputs_permuted(const Tensor& rows, const Tensor& order) override {
    if (documents_ || !model_.attention().attends() || sole_values_.defined())
      return outputs_with(rows, weights.index_select(0, rows).gather(-1, order));
    return replaced(selected(encoded_, rows), [&, this](const Found& found, const Tensor& own) -> Tensor {
      if (!found.words) return own;
      const int64_t axis = key_axis(own);
      std::vector<int64_t> shape(static_cast<size_t>(own.dim()), 1);
      shape.front() = own.size(0);
      shape[static_cast<size_t>(axis)] = own.size(axis);
      return own.gather(axis, order.squeeze(1).view(shape).expand(own.sizes()));
    });
  }

  Tensor outputs_without(const Tensor& rows, const Tensor& removed) override {
    const at::NoGradGuard no_grad;
    const Tensor row = rows.cpu(), gone = removed.cpu().contiguous();
    ExampleIds left{.columns = {{}}, .documents = documents_};
    for (int64_t n = 0; n < row.size(0); ++n) {
      const TextIds& text = ids_.columns.front()[static_cast<size_t>(row[n].item<int64_t>())];
      const bool* const drop = gone.data_ptr<bool>() + n * gone.size(1);
      TextIds kept;
      for (size_t s = 0; s < text.size(); ++s) {
        Ids sentence;
        for (size_t i = 0; i < text[s].size(); ++i)
          if (!drop[s * static_cast<size_t>(L_) + i]) sentence.push_back(text[s][i]);
        if (!sentence.empty()) kept.push_back(std::move(sentence));
      }
      left.columns.front().push_back(std::move(kept));
    }
    const Tensor all = at::zeros({row.size(0), 1, outputs.size(-1)}, outputs.options());
    for (const Rows& some : batches_by_length(left.lengths(), kTokensAtOnce)) {
      const Tensor found = model_.predict(model_.pool(collate(left, some).to(classifier_.device())));
      all.index_copy_(0, at::tensor(some, at::kLong).to(all.device()), found.to(all.options()).unsqueeze(1));
    }
    return all;
  }

  Tensor embedded() override { return embedded_.rows.flatten(1, -2); }

  Tensor outputs_from(const Tensor& rows, const Tensor& embedded, bool fixed_weights) override {
    auto shape = embedded_.rows.sizes().vec();
    shape.front() = rows.size(0);
    const Features given{embedded.reshape(shape), embedded_.keep.index_select(0, rows), /*real_first=*/true};
    auto encoded = model_.encode([&](size_t) { return given; });
    if (encoded_.imposed.defined()) encoded.imposed = encoded_.imposed.index_select(0, rows);
    if (!fixed_weights || !model_.attention().attends()) return predicted(model_.attend(encoded));
    return replaced(encoded, [](const Found&, const Tensor& own) { return own.detach(); });
  }

  Tensor rollout() override {
    const at::NoGradGuard no_grad;
    Tensor through;  // [N, L, L]
    for (const auto& [name, attended] : encoded_.steps) {
      if (!attended.weights.defined()) continue;
      const Tensor own = attended.weights.dim() == 4 ? attended.weights.mean(1) : attended.weights;
      if (own.dim() != 3 || own.size(1) != L_ || own.size(2) != L_) return {};
      const Tensor layer = normalized(own + at::eye(L_, own.options()));
      through = through.defined() ? at::matmul(layer, through) : layer;
    }
    if (!through.defined() || !model_.attention().attends()) return {};
    const Tensor words = at::matmul(word_weights_.view({-1, 1, L_}), through).view({-1, S_, L_});
    const Tensor all = documents_ ? words * sentence_weights_.unsqueeze(-1) : words;
    return at::where(keep, all.flatten(1), at::zeros({}, all.options())).unsqueeze(1);
  }

  Tensor value_norms() override { return value_norms_; }

 private:
  static constexpr int64_t kTokensAtOnce = 16000;

  /// What an attention call of the attention model is over.
  struct Found {
    bool words = false, sentences = false;
    bool decides = false;  // the last call over words, and the one over sentences
  };

  /// Padded sizes by which calls over words and over sentences are told apart: different ones, larger than one.
  MinSizes sizes() const {
    int64_t S = 1, L = 3;
    for (const TextIds& text : ids_.columns.front()) {
      S = std::max(S, std::ssize(text));
      for (const Ids& sentence : text) L = std::max(L, std::ssize(sentence));
    }
    if (!documents_) return {{1, L}};
    S = std::max<int64_t>(S, 2);
    return {{S, S == L ? L + 1 : L}};
  }

  bool has_channels() const { return model_.attention().has_channels(); }
  int64_t key_axis(const Tensor& own) const { return own.dim() - (has_channels() ? 2 : 1); }

  Found kind_of(const Tensor& own, int64_t calls) const {
    const int64_t keys = own.size(key_axis(own));
    Found found;
    found.words = keys == L_;
    found.sentences = documents_ && keys == S_;
    found.decides = found.sentences || (found.words && calls == last_call_);
    return found;
  }

  /// wanted [N, Lk] in the shape of own, [N, (H,) Lq, Lk, (W)].
  Tensor like(const Tensor& own, const Tensor& wanted) const {
    std::vector<int64_t> shape(static_cast<size_t>(own.dim()), 1);
    shape.front() = own.size(0);
    shape[static_cast<size_t>(key_axis(own))] = wanted.size(-1);
    return wanted.to(own.scalar_type()).view(shape).expand(own.sizes());
  }

  Tensor predicted(const Pooled& pooled) { return model_.predict(pooled).to(at::kFloat).unsqueeze(1); }

  template <typename Other>
  Tensor replaced(const ClassificationModel::EncodedTexts& encoded, const Other& other) {
    int64_t calls = 0;
    Call call;
    call.replace_weights = [&](const Tensor& own, const Tensor&) {
      const Tensor given = other(kind_of(own, calls), own);
      ++calls;
      return given;
    };
    return predicted(model_.attend(encoded, call));
  }

  /// The mean over queries, heads and features: [N, Lk] of [N, (H,) Lq, Lk, (W)].
  Tensor mean_of(const Tensor& own) const {
    Tensor mean = has_channels() ? own.mean(-1) : own;
    if (mean.dim() == 4) mean = mean.mean(1);
    const Tensor real = batch_.columns.front().keep.reshape({-1, L_});
    if (mean.size(1) != L_ || mean.size(0) != real.size(0)) return mean.mean(1);
    const Tensor queries = real.to(mean.scalar_type()).unsqueeze(-1);  // queries are the words of the text
    return at::where(queries > 0, mean, at::zeros({}, mean.options())).sum(1) / queries.sum(1).clamp_min(1);
  }

  void read_weights() {
    const int64_t B = keep.size(0);
    if (!model_.attention().attends()) {
      outputs = predicted(model_.attend(encoded_without_steps()));
      weights = normalized(keep.to(at::kFloat)).unsqueeze(1);
      value_norms_ = at::where(keep, encoded_.inputs.front().features.rows.norm(2, -1).flatten(1),
                               at::zeros({}, weights.options()));
      return;
    }
    int64_t calls = 0;
    Call call;
    Tensor sole_weights;
    call.replace_weights = [&](const Tensor& own, const Tensor& values) {
      const Found found = kind_of(own, -1);
      if (!documents_ && !has_channels() && own.dim() == 3 && own.size(0) == B && own.size(1) == 1 && found.words) {
        sole_weights = own.squeeze(1);
        sole_values_ = values;
      }
      if (found.words && own.size(0) == B * S_) {
        last_call_ = calls;
        word_weights_ = mean_of(own);
        const Tensor norms = values.norm(2, -1);
        value_norms_ = (norms.dim() == 3 ? norms.mean(1) : norms).reshape({B, -1});
      }
      if (found.sentences) sentence_weights_ = mean_of(own);
      ++calls;
      return own;
    };
    outputs = predicted(model_.attend(encoded_without_steps(), call));
    if (sole_values_.defined()) {
      const Tensor rows = at::arange(B, keep.options().dtype(at::kLong));
      if (calls != 1 || !at::allclose(predicted({.rows = sole_contexts(rows, sole_weights)}), outputs, 1e-4, 1e-5))
        sole_values_.reset();
    }
    check(word_weights_.defined() && (!documents_ || sentence_weights_.defined()), "explain: the attention model is ",
          model_.attention().to_string(), ", expected one with weights of the words of a text");
    const Tensor zero = at::zeros({}, word_weights_.options());
    word_weights_ = at::where(keep.view_as(word_weights_), word_weights_, zero);
    word_mass_ = word_weights_.view({B, S_, L_}).sum(-1);
    const Tensor in_sentences = word_weights_.view({B, S_, L_});
    const Tensor all = documents_ ? in_sentences * sentence_weights_.unsqueeze(-1) : in_sentences;
    weights = at::where(keep, all.flatten(1), zero).to(at::kFloat).unsqueeze(1);
    value_norms_ = at::where(keep, value_norms_, zero).to(at::kFloat);
    word_weights_ = word_weights_.view({B, S_ * L_});
  }

  ClassificationModel::EncodedTexts encoded_without_steps() const {
    return {.inputs = encoded_.inputs, .imposed = encoded_.imposed};
  }

  /// Contexts [N, D] of weights [N, L], where the output model reads the context of one call with one query: without
  /// scores, which searches would compute again in each step. The same row several times in a row is read once.
  Tensor sole_contexts(const Tensor& rows, const Tensor& wanted) const {
    const Tensor host = rows.cpu().contiguous();
    const int64_t* const row = host.data_ptr<int64_t>();
    const int64_t N = host.size(0);
    int64_t each = 1;
    while (each < N && row[each] == row[0]) ++each;
    bool groups = N > 0 && N % each == 0;
    for (int64_t n = 0; groups && n < N; ++n) groups = row[n] == row[n - n % each];
    if (!groups) each = 1;
    const Tensor values = sole_values_.index_select(0, rows.slice(0, 0, N, each));  // [N / each, L, D]
    const Tensor grouped = wanted.to(values.scalar_type()).reshape({-1, each, L_});
    return at::matmul(grouped, values).flatten(0, 1);
  }

  /// The mean of the features with other weights; a summary reads no weights.
  Tensor without_attention(const Tensor& rows, const Tensor& given) {
    auto encoded = selected(encoded_, rows);
    if (model_.attention().to_string() == "fixed") return predicted(model_.attend(encoded));
    Pooled pooled;
    pooled.rows = at::matmul(given, encoded.inputs.front().features.without_padding().rows).squeeze(1);
    return predicted(pooled);
  }

  Classifier& classifier_;
  ClassificationModel& model_;
  bool documents_;
  ExampleIds ids_;
  TextBatch batch_;
  int64_t S_ = 1, L_ = 1, last_call_ = -2;
  Features embedded_;
  ClassificationModel::EncodedTexts encoded_;
  Tensor word_weights_, sentence_weights_;  // [B, S L], [B, S]: of the model
  Tensor word_mass_;                        // [B, S]: what the weights of the words in a sentence sum to
  Tensor value_norms_;                      // [B, T]
  Tensor sole_values_;                      // [B, L, D]: where the context of one call is what the output model reads
};

class ExplainedClassifier final : public ExplainedModel {
 public:
  ExplainedClassifier(const std::string& run, Classifier classifier, std::vector<ClassifiedText> given)
      : classifier_(std::move(classifier)) {
    const LabelSet& labels = classifier_.labels();
    check(classifier_.reader().columns.size() == 1, "explain: ", run, ": got a model of ",
          classifier_.reader().columns.size(), " texts (", joined(classifier_.reader().columns),
          "), expected one; the tests take classifiers of one text");
    check(classifier_.model().attention().inputs() == 1, "explain: ", run,
          ": got a model with several representations of a text, expected one");
    check(labels.form != LabelForm::tokens, "explain: ", run,
          ": got a model that labels words, expected one that labels texts");
    const Pooling& attention = classifier_.model().attention();
    facts_ = {.run = run,
              .task = "classify",
              .mechanism = attention.to_string(),
              .attends = attention.attends(),
              .several = labels.form != LabelForm::one,
              .number = labels.form == LabelForm::number,
              .classes = labels.form == LabelForm::number ? std::vector<std::string>{"number"} : labels.names};
    for (auto& one : given) {
      add_tokens(classifier_.reader(), one.text, one.explained);
      const ReadText text = classifier_.reader().read(one.text);
      int64_t longest = 0;
      for (const Ids& sentence : text.ids) longest = std::max(longest, std::ssize(sentence));
      costs_.push_back(std::max<int64_t>(1, longest * std::ssize(text.ids)));
      ids_.push_back(text.ids);
      texts_.push_back(std::move(one.explained));
    }
  }

  const ExplainedFacts& facts() const override { return facts_; }
  const std::vector<ExplainedText>& texts() const override { return texts_; }
  int64_t cost(size_t item) const override { return costs_[item]; }
  std::unique_ptr<ExplainedBatch> read(const std::vector<size_t>& items) override {
    return std::make_unique<ClassifierBatch>(classifier_, ids_, items);
  }

 private:
  Classifier classifier_;
  ExplainedFacts facts_;
  std::vector<ExplainedText> texts_;
  std::vector<TextIds> ids_;
  std::vector<int64_t> costs_;
};

}  // namespace

std::unique_ptr<ExplainedModel> explained_classifier(const std::string& run, Classifier classifier,
                                                     std::vector<ClassifiedText> texts) {
  return std::make_unique<ExplainedClassifier>(run, std::move(classifier), std::move(texts));
}

}  // namespace heed
