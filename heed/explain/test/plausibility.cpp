// Whether the words that an attribution ranks first are those that people marked as the reason (a rationale): average
// precision, ROC AUC, F1 of words and of spans, as ERASER has them (DeYoung et al., 2020). Definitions:
// heed/metrics/attention_relevance.h, rationale_overlap.h.
//
// The score of a word is the sum over its tokens, 0 where it has none because the text was cut. A word is relevant if
// its weight of people is at least half of the largest one of the text, so rationales of 0 and 1 are what they are. The
// words that are found are the share of all words of the set that is relevant, rounded, at least one. Where spans are
// compared, words of equal score are in an order drawn from seed and item; the other figures need none.

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/explain/predicted.h"
#include "heed/explain/side_by_side.h"
#include "heed/explain/test.h"
#include "heed/metrics/attention_relevance.h"
#include "heed/metrics/erasure.h"
#include "heed/metrics/rationale_overlap.h"

namespace heed {
namespace {

using Json = ExplanationRecord;
constexpr const char *kAttention = "attention", *kGradient = "gradient_x_input", *kRandom = "random";
constexpr const char* kMaps[] = {"attention", "gradient_x_input", "integrated_gradients"};

std::vector<bool> relevant_words(const std::vector<double>& rationale) {
  double largest = 0;
  for (const double weight : rationale)
    if (std::isfinite(weight)) largest = std::max(largest, weight);
  std::vector<bool> relevant;
  for (const double weight : rationale) relevant.push_back(largest > 0 && weight >= largest / 2);
  return relevant;
}

/// Of all words of texts with a rationale, the share that is relevant.
double relevant_share(const std::vector<std::vector<double>>& rationales) {
  int64_t words = 0, found = 0;
  for (const auto& rationale : rationales) {
    const auto relevant = relevant_words(rationale);
    const auto count = std::count(relevant.begin(), relevant.end(), true);
    if (count == 0) continue;
    words += std::ssize(relevant);
    found += count;
  }
  return words > 0 ? static_cast<double>(found) / static_cast<double>(words) : 0;
}

class Plausibility final : public ExplanationTest {
 public:
  explicit Plausibility(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Rationales of people",
            .paper = "DeYoung et al., 2020",
            .means =
                "How well the words that people marked as the reason are found by the words that are ranked first: "
                "whether the weights look right to a reader.",
            .means_not =
                "Whether the model decides by these words: plausible is not faithful, and a model may be right "
                "for reasons that nobody marked."};
  }

  std::string why_not(const ExplainedFacts& facts, bool has_rationales) const override {
    if (facts.task == "translate") return "a translator has a map for each target token, and rationales are of a text";
    if (!facts.attends) return "the model has no weights of tokens";
    return has_rationales ? "" : "the set has no rationales of people";
  }

  std::vector<Json> measure(ExplainedBatch& batch, const TestContext& context) const override {
    check(context.model != nullptr, "explain: plausibility: got no model, expected one with its texts");
    const double top_share = relevant_share(context.rationales);
    const auto attributions = attributions_of(batch, context);
    std::vector<Json> records;
    for (int64_t b = 0; b < batch.size(); ++b) {
      const size_t item = batch.items[static_cast<size_t>(b)];
      const ExplainedText& text = context.model->texts().at(item);
      const auto rationale = item < context.rationales.size() ? context.rationales[item] : std::vector<double>{};
      records.push_back(measured(batch, b, text, rationale, attributions, top_share, context.seed));
    }
    return records;
  }

  ExplanationResult summarize(const std::vector<Json>& records, const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    const auto names = measured_attributions(records);
    if (names.empty() || names.front() != kAttention) {
      result.finding = "No text has a rationale and weights, so nothing is found.";
      return result;
    }
    const ResamplingOptions resampling{.samples = options.samples, .seed = options.seed};
    const auto mean_of = [&](const std::string& key) {
      return ComparedFigure::of_means(
          names, records,
          [&](const Json& scores) -> std::optional<double> {
            return scores.contains(key) ? std::optional(scores[key].get<double>()) : std::nullopt;
          },
          resampling);
    };
    const ComparedFigure precision = mean_of("average_precision"), auc = mean_of("roc_auc"), f1 = mean_of("token_f1");
    const ComparedFigure spans = span_f1(names, records, resampling);
    const std::vector<std::pair<std::string, const ComparedFigure*>> columns{
        {"average precision", &precision}, {"ROC AUC", &auc}, {"token F1", &f1}, {"IoU F1", &spans}};
    result.tables.push_back(table_of_means("Words that people marked", names, columns));
    result.tables.back().note =
        "Means over texts. A word has the sum of the scores of its tokens, 0 if it was cut off. Token F1 and IoU F1 "
        "are "
        "of the first words of a text, as large a share of it as is marked in the set; a span matches if it shares "
        "half "
        "of its words with a marked one.";
    result.tables.push_back(table_of_differences(names, columns));
    add_finding(precision, auc, names, result);
    add_plot(records, result);
    add_examples(records, options, result);
    return result;
  }

 private:
  static Json measured(const ExplainedBatch& batch, int64_t row, const ExplainedText& text,
                       const std::vector<double>& rationale, const std::vector<NamedAttribution>& attributions,
                       double top_share, uint64_t seed) {
    Json record{{"words", text.words.size()}};
    if (rationale.empty() || text.words.empty()) {
      record[text.words.empty() ? "undefined_no_words" : "undefined_no_rationale"] = 1;
      return record;
    }
    check(rationale.size() == text.words.size(), "explain: plausibility: text ", text.id, ": got ", rationale.size(),
          " weights of people and ", text.words.size(), " words, expected equal numbers");
    const auto relevant = relevant_words(rationale);
    const auto count = std::count(relevant.begin(), relevant.end(), true);
    record["relevant"] = count;
    if (count == 0) {
      record["undefined_empty_rationale"] = 1;
      return record;
    }
    if (count == std::ssize(relevant)) record["counted_rationales_of_all_words"] = 1;
    const auto slots = token_slots(batch, row);
    check(slots.size() == text.word.size(), "explain: plausibility: text ", text.id, ": got ", slots.size(),
          " tokens and words of ", text.word.size(), " tokens, expected equal numbers");
    if (slots.empty()) {
      record["undefined_no_tokens"] = 1;
      return record;
    }
    std::vector<bool> has_tokens(text.words.size());
    for (const int64_t word : text.word)
      if (word >= 0) has_tokens[static_cast<size_t>(word)] = true;
    for (size_t i = 0; i < relevant.size(); ++i)
      if (relevant[i] && !has_tokens[i]) record["counted_rationales_with_words_that_are_not_read"] = 1;
    const auto ties =
        drawn_numbers(DrawnFor::words, seed, batch.items[static_cast<size_t>(row)], 0, std::ssize(text.words));
    Json maps{{"rationale", rounded(shown(finite(rationale)))}};
    for (const auto& [name, scores] : attributions) {
      const auto found = scores_at(scores, row, 0, slots);
      if (!found) {
        record["undefined_" + name + "_is_not_finite"] = 1;
        continue;
      }
      std::vector<double> words(text.words.size());
      for (size_t t = 0; t < found->size(); ++t)
        if (text.word[t] >= 0) words[static_cast<size_t>(text.word[t])] += (*found)[t];
      if (name == kAttention && words.size() > 1 &&
          std::all_of(words.begin(), words.end(), [&](double x) { return x == words.front(); }))
        record["counted_texts_of_equal_weights"] = 1;
      record["scores"][name] = scores_of_words(words, relevant, ties, top_share);
      if (std::find(std::begin(kMaps), std::end(kMaps), name) != std::end(kMaps)) maps[name] = rounded(shown(words));
    }
    record["maps"] = std::move(maps);
    return record;
  }

  static std::vector<double> finite(std::vector<double> values) {
    for (double& value : values)
      if (!std::isfinite(value)) value = 0;
    return values;
  }

  static Json scores_of_words(const std::vector<double>& words, const std::vector<bool>& relevant,
                              const std::vector<double>& ties, double top_share) {
    const auto share = static_cast<int64_t>(std::llround(top_share * static_cast<double>(words.size())));
    const int64_t top = std::clamp<int64_t>(share, 1, std::ssize(words));
    std::vector<bool> first(words.size());
    const auto order = ranked(words, ties);
    for (int64_t i = 0; i < top; ++i) first[static_cast<size_t>(order[static_cast<size_t>(i)])] = true;
    const SpanMatches spans = match_spans(first, relevant);
    Json scores = Json::object();
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) scores[name] = rounded(*value);
    };
    add("average_precision", average_precision(words, relevant));
    add("roc_auc", roc_auc(words, relevant));
    add("token_f1", token_f1_of_top(words, relevant, top));
    scores["spans"] = {spans.matched, spans.found, spans.gold};
    return scores;
  }

  static ComparedFigure span_f1(const std::vector<std::string>& names, const std::vector<Json>& records,
                                const ResamplingOptions& resampling) {
    std::vector<std::vector<ComparedFigure::Statistic>> texts(names.size());
    for (size_t i = 0; i < names.size(); ++i)
      for (const auto& record : records) {
        const Json* const scores = heed::scores_of(record, names[i]);
        if (scores == nullptr) {
          texts[i].push_back(std::nullopt);
          continue;
        }
        const auto spans = (*scores)["spans"].get<std::vector<int64_t>>();
        texts[i].push_back(span_f1_statistics({{spans.at(0), spans.at(1), spans.at(2)}}).rows.front());
      }
    return {names, std::move(texts), span_f1_statistics({}).score, resampling};
  }

  /// Never for or against: this is a test of agreement with people.
  static void add_finding(const ComparedFigure& precision, const ComparedFigure& auc,
                          const std::vector<std::string>& names, ExplanationResult& result) {
    const bool has_both = std::find(names.begin(), names.end(), kRandom) != names.end() &&
                          std::find(names.begin(), names.end(), kGradient) != names.end();
    const auto random = has_both ? precision.difference_to(kRandom) : std::nullopt;
    const auto gradient = has_both ? precision.difference_to(kGradient) : std::nullopt;
    if (!random || !gradient) {
      result.finding = "Fewer than two texts have figures, so nothing is found.";
      return;
    }
    std::string judged = "the weights do not look better to a reader than drawn ones";
    if (random->above() && gradient->below())
      judged = "the weights are plausible, those of gradient x input more so";
    else if (random->above() && gradient->above())
      judged = "the weights are plausible, more so than gradient x input";
    else if (random->above())
      judged = "the weights are plausible, about as much as gradient x input";
    else if (random->below())
      judged = "people marked other words than those that attention ranks first";
    result.figure_name = "average precision";
    result.figure = precision.cell(kAttention);
    result.finding = "Attention finds the words that people marked with an average precision of " +
                     figure(precision.cell(kAttention)) + " and a ROC AUC of " + figure(auc.cell(kAttention)) +
                     "; drawn numbers have " + figure(precision.cell(kRandom)) + " (" + p_value(random->p_holm) +
                     "), gradient x input " + figure(precision.cell(kGradient)) + " (" + p_value(gradient->p_holm) +
                     "): " + judged + ". Plausible is not faithful.";
  }

  static void add_plot(const std::vector<Json>& records, ExplanationResult& result) {
    ExplanationPlot plot{.kind = ExplanationPlot::Kind::violin,
                         .title = "Average precision of single texts",
                         .y_name = "average precision"};
    for (const auto* const name : {kAttention, kGradient, kRandom}) {
      ExplanationPlot::Series series{.name = name};
      for (const auto& record : records)
        if (const Json* const scores = heed::scores_of(record, name); scores && scores->contains("average_precision"))
          series.points.emplace_back(0, (*scores)["average_precision"].get<double>());
      if (!series.points.empty()) plot.series.push_back(std::move(series));
    }
    result.plots.push_back(std::move(plot));
  }

  static void add_examples(const std::vector<Json>& records, const TestSummaryOptions& options,
                           ExplanationResult& result) {
    if (options.model == nullptr) return;
    std::vector<std::pair<double, const Json*>> order;
    for (const auto& record : records) {
      const Json* const scores = heed::scores_of(record, kAttention);
      if (scores && record.contains("item") && scores->contains("roc_auc"))
        order.emplace_back((*scores)["average_precision"].get<double>(), &record);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const size_t count = std::min(options.examples, (order.size() + 1) / 2);
    for (size_t i = 0; i < count; ++i)
      result.examples.push_back(example("Agrees with people", *order[i].second, *options.model));
    for (size_t i = 0; i < std::min(count, order.size() - count); ++i)
      result.examples.push_back(example("Disagrees", *order[order.size() - 1 - i].second, *options.model));
  }

  static ExplanationExample example(const std::string& title, const Json& record, const ExplainedModel& model) {
    const ExplainedText& text = model.texts().at(record["item"].get<size_t>());
    const Json& scores = *heed::scores_of(record, kAttention);
    ExplanationExample one{.title = title + ": " + text.id, .tokens = text.words};
    one.remark = "average precision " + figure(scores["average_precision"].get<double>()) + ", ROC AUC " +
                 figure(scores["roc_auc"].get<double>()) + ", " + record["relevant"].dump() + " of " +
                 record["words"].dump() + " words marked";
    for (const auto& [name, weights] : record["maps"].items())
      if (weights.size() == text.words.size()) one.maps.push_back({name, weights.get<std::vector<double>>()});
    return one;
  }
};

const Catalogue<ExplanationTest>::Entry plausibility_entry{
    "plausibility",
    make_part<ExplanationTest, Plausibility>,
    {.formula = "average precision, ROC AUC, F1 against marked words",
     .paper = "DeYoung et al., 2020",
     .cost = "the attributions alone",
     .choose = "whether people would find the weights convincing"}};

}  // namespace
}  // namespace heed
