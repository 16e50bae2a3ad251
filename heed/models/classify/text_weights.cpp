#include "heed/models/classify/text_weights.h"

#include <algorithm>
#include <set>

#include "heed/base/check.h"

namespace heed {
namespace {

/// The texts of an example, padded so that each axis of keys has a size of its own: it tells whose keys they are.
struct Sized {
  std::vector<ReadText> texts;              // by column
  std::vector<int64_t> lengths, sentences;  // of the padded axes, by column; sentences 0: not a document
  MinSizes sizes;

  Sized(const Classifier& classifier, const std::vector<std::string>& example) {
    std::set<int64_t> used;
    const auto next_free = [&](int64_t size) {
      // A few sizes are those of other axes: queries, representations of a word.
      constexpr int64_t kFirst = 17;
      for (size = std::max(size, kFirst); used.count(size) > 0; ++size) {
      }
      used.insert({size, size + 1});  // with a class token there is one more key
      return size;
    };
    for (const auto& text : example) {
      texts.push_back(classifier.reader().read(text));
      int64_t longest = 1;
      for (const auto& ids : texts.back().ids) longest = std::max(longest, static_cast<int64_t>(ids.size()));
      lengths.push_back(next_free(longest));
      const bool document = classifier.reader().documents;
      sentences.push_back(document ? next_free(static_cast<int64_t>(texts.back().ids.size())) : 0);
      sizes.emplace_back(document ? sentences.back() : 1, lengths.back());
    }
  }
};

/// [queries][keys] of a matrix on the CPU, cut to the real ones.
WeightRows rows_of(const Tensor& weights, int64_t queries, int64_t keys) {
  const Tensor matrix = weights.to(at::kDouble).contiguous();
  WeightRows rows;
  for (int64_t q = 0; q < std::min(queries, matrix.size(0)); ++q) {
    const double* const first = matrix.data_ptr<double>() + q * matrix.size(1);
    rows.emplace_back(first, first + std::min(keys, matrix.size(1)));
  }
  return rows;
}

std::vector<int64_t> identity(size_t count) {
  std::vector<int64_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

std::string text_of(const Segmentation& sentence) {
  return joined(sentence.words, " ");
}

class Collector {
 public:
  Collector(Classifier& classifier, const std::vector<std::string>& example, int64_t head)
      : classifier_(classifier), sized_(classifier, example), head_(head) {}

  std::vector<TextWeights> all(const ExampleIds& ids) {
    Call call;
    call.outputs.weights = true;
    const TextBatch batch = collate(ids, {0}, 0, 1, sized_.sizes).to(classifier_.device());
    for (const auto& [name, attended] : classifier_.model().pool(batch, call).output.steps)
      if (attended.weights.defined()) add(name, attended.weights.detach().cpu());
    return std::move(found_);
  }

 private:
  /// weights [N, (H,) Lq, Lk, (W)].
  void add(const std::string& name, Tensor weights) {
    const bool own = name.rfind("features.", 0) == 0;
    if (!own && classifier_.model().attention().has_channels()) weights = weights.mean(-1);
    int64_t heads = 1;
    if (weights.dim() == 4) {
      heads = weights.size(1);
      check(head_ <= heads, "attend: got head ", head_, ", expected 1 to ", heads, " for ", name);
      weights = head_ > 0 ? weights.select(1, head_ - 1) : weights.mean(1);
    }
    for (size_t c = 0; c < sized_.texts.size(); ++c) {
      if (weights.size(-1) == sized_.lengths[c]) add_words(name, c, weights, heads);
      if (sized_.sentences[c] > 0 && weights.size(-1) == sized_.sentences[c]) add_sentences(name, c, weights[0], heads);
    }
  }

  TextWeights started(const std::string& name, size_t column, int64_t heads) const {
    return {.step = name, .column = classifier_.reader().columns[column], .head = head_, .heads = heads};
  }

  /// weights [N, Lq, L]; N is the number of sentences of a document.
  void add_words(const std::string& name, size_t column, const Tensor& weights, int64_t heads) {
    const auto& sentences = sized_.texts[column].sentences;
    for (size_t s = 0; s < sentences.size() && static_cast<int64_t>(s) < weights.size(0); ++s) {
      const Segmentation& sentence = sentences[s];
      TextWeights one = started(name, column, heads);
      one.sentence = sized_.sentences[column] > 0 ? static_cast<int64_t>(s) : -1;
      one.words = sentence.words;
      const Segmentation* const queries = queried(weights.size(1), column, s);
      one.self = queries == &sentence;
      const auto tokens = static_cast<int64_t>(sentence.ids.size());
      std::vector<int64_t> query_words;
      if (queries != nullptr) query_words = queries->word;
      if (weights.size(1) == sized_.lengths[column] - 1 && tokens > 0) {
        // In one direction the first or the last token has nothing to attend to; the other ones are the queries.
        const bool first = weights[static_cast<int64_t>(s)][0][0].item<double>() == 0;
        query_words.erase(first ? query_words.end() - 1 : query_words.begin());
      }
      const int64_t rows = queries != nullptr ? std::ssize(query_words) : weights.size(1);
      const WeightRows pieces = rows_of(weights[static_cast<int64_t>(s)], rows, tokens);
      one.weights = merged_to_words(pieces, sentence.word, queries != nullptr ? query_words : identity(pieces.size()));
      if (queries != nullptr) {
        one.queries = queries->words;
        one.weights.resize(one.queries.size());
      }
      for (auto& row : one.weights) row.resize(one.words.size());
      found_.push_back(std::move(one));
    }
  }

  /// The sentence whose tokens are the queries: of the same text, or of another one that is no document.
  const Segmentation* queried(int64_t queries, size_t column, size_t sentence) const {
    const int64_t own = sized_.lengths[column];
    if (queries == own || queries == own - 1) return &sized_.texts[column].sentences[sentence];
    for (size_t c = 0; c < sized_.texts.size(); ++c)
      if (queries == sized_.lengths[c] && sized_.sentences[c] == 0 && !sized_.texts[c].sentences.empty())
        return &sized_.texts[c].sentences.front();
    return nullptr;
  }

  void add_sentences(const std::string& name, size_t column, const Tensor& weights, int64_t heads) {
    TextWeights one = started(name, column, heads);
    one.sentences = true;
    for (const auto& sentence : sized_.texts[column].sentences) one.words.push_back(text_of(sentence));
    one.weights = rows_of(weights, weights.size(0), static_cast<int64_t>(one.words.size()));
    found_.push_back(std::move(one));
  }

  Classifier& classifier_;
  Sized sized_;
  int64_t head_;
  std::vector<TextWeights> found_;
};

/// The mean of the rows.
std::vector<double> mean_row(const WeightRows& rows) {
  std::vector<double> mean(rows.empty() ? 0 : rows.front().size(), 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / static_cast<double>(rows.size());
  return mean;
}

}  // namespace

std::vector<TextWeights> text_weights(Classifier& classifier, const std::vector<std::string>& example, int64_t head) {
  if (!classifier.model().attention().attends()) return {};
  const at::NoGradGuard no_grad;
  return Collector(classifier, example, head).all(classifier.reader().read_all({example}));
}

std::vector<double> word_weights(const std::vector<TextWeights>& all, const std::string& column) {
  std::vector<double> weights, of_sentences;
  std::string last;
  for (const auto& one : all)
    if (one.column == column && !one.sentences) last = one.step;
  for (const auto& one : all)
    if (one.column == column && one.sentences) of_sentences = mean_row(one.weights);
  for (const auto& one : all) {
    if (one.column != column || one.step != last || one.sentences) continue;
    if (one.sentence <= 0) weights.clear();  // the next hop begins
    const double factor = one.sentence >= 0 && static_cast<size_t>(one.sentence) < of_sentences.size()
                              ? of_sentences[static_cast<size_t>(one.sentence)]
                              : 1;
    for (const double weight : mean_row(one.weights)) weights.push_back(factor * weight);
  }
  return weights;
}

}  // namespace heed
