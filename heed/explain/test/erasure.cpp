// What a model's answer loses when the tokens that an attribution ranks first are removed from the text and it is read
// again: comprehensiveness, sufficiency and their areas (DeYoung et al., 2020), and how many tokens must be removed
// until the decision changes (Serrano & Smith, 2019). Definitions: heed/metrics/erasure.h.
//
// Every position of a translator's output has its own ranking; figures are means over positions. Tokens of equal score
// are in an order drawn from seed and item, the same for all attributions.

#include "heed/metrics/erasure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <ATen/ATen.h>

#include "heed/explain/predicted.h"
#include "heed/explain/side_by_side.h"
#include "heed/explain/test.h"

namespace heed {
namespace {

using Json = ExplanationRecord;
using Slots = std::vector<int64_t>;
constexpr const char *kAttention = "attention", *kGradient = "gradient_x_input", *kRandom = "random",
                     *kUniform = "uniform";
constexpr int64_t kMinTexts = 20;  // of a verdict: a bootstrap of fewer finds differences that are not there
constexpr const char* kMaps[] = {"attention", "gradient_x_input", "integrated_gradients"};

/// Outputs of texts without tokens, each of which is read once.
class ErasedOutputs {
 public:
  ErasedOutputs(ExplainedBatch& batch, bool several) : batch_(batch), several_(several) {}

  /// The number by which the output is found after read_all().
  size_t add(int64_t row, const std::vector<int64_t>& order, int64_t first, int64_t last) {
    Slots removed(order.begin() + first, order.begin() + last);
    std::sort(removed.begin(), removed.end());
    const auto [at, is_new] = known_.try_emplace({row, std::move(removed)}, known_.size());
    if (is_new) waiting_.push_back({row, at->first.second});
    return at->second;
  }
  void read_all() {
    auto found = read_erased(batch_, waiting_, several_);
    std::move(found.begin(), found.end(), std::back_inserter(outputs_));
    waiting_.clear();
  }
  double probability(size_t number, int64_t position) const {
    return outputs_[number].probability[static_cast<size_t>(position)];
  }
  bool flipped(size_t number, int64_t position) const {
    return outputs_[number].flipped[static_cast<size_t>(position)];
  }

 private:
  ExplainedBatch& batch_;
  bool several_;
  std::map<std::pair<int64_t, Slots>, size_t> known_{};
  std::vector<ErasedText> waiting_{};
  std::vector<ErasedOutput> outputs_{};
};

/// One ranking of the tokens of a text, for one position of the output.
struct Ranking {
  size_t attribution = 0;
  int64_t row = 0, position = 0;
  Slots order{};                           // slots, the most important first
  std::vector<size_t> without{}, alone{};  // outputs, by share
  size_t without_one = 0;
  FlipSearch search{0};

  int64_t tokens() const { return std::ssize(order); }
};

struct Scores {
  std::vector<double> comprehensiveness{}, sufficiency{};  // sums over positions
  double comprehensiveness_area = 0, sufficiency_area = 0, flip_one = 0, flip_share = 0, flips = 0;
  int64_t positions = 0;
  bool finite = true;
};

class Erasure final : public ExplanationTest {
 public:
  explicit Erasure(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Erased tokens",
            .paper = "DeYoung et al., 2020; Serrano & Smith, 2019",
            .means =
                "How much of the probability of the prediction is lost without the tokens that are ranked "
                "first (comprehensiveness, higher is better) and with them alone (sufficiency, lower is better).",
            .means_not =
                "A text with gaps is not one that the model was trained on, so a part of every loss is due to "
                "the gap; only the difference between rankings of the same text means something."};
  }

  std::string why_not(const ExplainedFacts& facts, bool) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }

  std::vector<Json> measure(ExplainedBatch& batch, const TestContext& context) const override {
    const auto attributions = attributions_of(batch, context);
    const ExplainedFacts facts = context.model != nullptr ? context.model->facts() : ExplainedFacts{};
    const Tensor rows = at::arange(batch.size(), batch.keep.options().dtype(at::kLong));
    const Tensor whole = answers_in(batch, rows, batch.outputs).to(at::kDouble).cpu();
    const Tensor finite = at::isfinite(batch.outputs).all(-1).cpu(), positions = batch.positions.cpu();
    std::vector<Json> records(static_cast<size_t>(batch.size()), Json::object());
    std::vector<Ranking> rankings;
    ErasedOutputs erased(batch, facts.several);
    for (int64_t b = 0; b < batch.size(); ++b) {
      Json& record = records[static_cast<size_t>(b)];
      const Slots slots = token_slots(batch, b);
      record["tokens"] = slots.size();
      Slots defined;
      for (int64_t p = 0; p < batch.positions.size(1); ++p)
        if (positions[b][p].item<bool>()) defined.push_back(p);
      const bool is_finite =
          std::all_of(defined.begin(), defined.end(), [&](int64_t p) { return finite[b][p].item<bool>(); });
      if (slots.empty()) record["undefined_no_tokens"] = 1;
      if (defined.empty()) record["undefined_no_positions"] = 1;
      if (!is_finite) record["undefined_output_is_not_finite"] = 1;
      if (slots.empty() || defined.empty() || !is_finite) continue;
      if (slots.size() == 1) record["counted_texts_of_one_token"] = 1;
      record["probability"] = rounded(whole[b][defined.front()].item<double>());
      if (batch.positions.size(1) == 1) record["predicted"] = predicted_classes(batch)[b][0].item<int64_t>();
      Json maps = Json::object();
      for (size_t i = 0; i < attributions.size(); ++i) {
        const auto& [name, scores] = attributions[i];
        std::vector<double> mean(slots.size());
        bool usable = true, constant = slots.size() > 1;
        std::vector<Ranking> some;
        for (const int64_t p : defined) {
          const auto found = scores_at(scores, b, p, slots);
          usable = found.has_value();
          if (!usable) break;
          constant =
              constant && std::all_of(found->begin(), found->end(), [&](double x) { return x == found->front(); });
          const auto map = shown(*found);
          for (size_t t = 0; t < mean.size(); ++t) mean[t] += map[t] / static_cast<double>(defined.size());
          some.push_back(ranking(i, b, p, *found, slots, batch, context.seed, erased));
        }
        if (!usable) {
          record["undefined_" + name + "_is_not_finite"] = 1;
          continue;
        }
        if (constant && name == kAttention) record["counted_texts_of_equal_weights"] = 1;
        if (std::find(std::begin(kMaps), std::end(kMaps), name) != std::end(kMaps)) maps[name] = rounded(mean);
        std::move(some.begin(), some.end(), std::back_inserter(rankings));
      }
      record["maps"] = std::move(maps);
    }
    erased.read_all();
    if (!facts.number) search_flips(rankings, erased);
    add_scores(rankings, erased, whole, attributions, facts.number, records);
    return records;
  }

  ExplanationResult summarize(const std::vector<Json>& records, const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    const auto names = measured_attributions(records);
    if (names.empty() || names.front() != kAttention) {
      result.finding = "No text has figures, so nothing is found.";
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
    const ComparedFigure comprehensiveness = mean_of("comprehensiveness_area"),
                         sufficiency = mean_of("sufficiency_area"), flip_one = mean_of("flip_one"),
                         flip_share = mean_of("flip_share"), flips = mean_of("flips");
    std::vector<std::pair<std::string, const ComparedFigure*>> columns{{"comprehensiveness", &comprehensiveness},
                                                                       {"sufficiency", &sufficiency}};
    if (flip_one.texts() > 0) {
      columns.emplace_back("flips without the first token", &flip_one);
      columns.emplace_back("share of tokens until it flips", &flip_share);
    }
    result.tables.push_back(table_of_means("Erased tokens", names, columns));
    result.tables.back().note =
        "Comprehensiveness and sufficiency are means over the shares 1, 5, 10, 20 and 50 % of the tokens (areas). A "
        "decision that never flips counts as all tokens" +
        std::string(flips.mean(kAttention)
                        ? ": by attention, the share of decisions that flip is " + figure(*flips.mean(kAttention)) + "."
                        : ".");
    result.tables.push_back(table_of_differences(names, columns));
    for (const auto& [key, title] : {std::pair{"comprehensiveness", "Comprehensiveness by share of tokens"},
                                     std::pair{"sufficiency", "Sufficiency by share of tokens"}})
      add_by_share(key, title, names, records, resampling, result);
    result.plots.push_back(violin(records));
    add_verdict(comprehensiveness, sufficiency, names, result);
    result.notes.push_back(
        "The probability is that of the class predicted on the whole text, right or wrong. Tokens of equal score are "
        "in "
        "a drawn order, the same for all rankings, so uniform is a second random order.");
    result.notes.push_back(
        "Weights and gradient x input say how much a token counts, not for which class. Integrated gradients and "
        "leave_one_out have a sign, so they leave out tokens that speak for another class; this alone makes them more "
        "comprehensive. The baseline that attention should not be below is gradient x input.");
    result.notes.push_back(
        "leave_one_out ranks by what this test measures for a single token, and reads the text once for "
        "each.");
    add_examples(records, options, result);
    return result;
  }

 private:
  static Ranking ranking(size_t attribution, int64_t row, int64_t position, const std::vector<double>& scores,
                         const Slots& slots, const ExplainedBatch& batch, uint64_t seed, ErasedOutputs& erased) {
    const auto ties =
        drawn_numbers(DrawnFor::ties, seed, batch.items[static_cast<size_t>(row)], position, std::ssize(slots));
    Ranking one{.attribution = attribution, .row = row, .position = position, .search = FlipSearch(std::ssize(slots))};
    for (const int64_t token : ranked(scores, ties)) one.order.push_back(slots[static_cast<size_t>(token)]);
    for (const double share : erasure_shares()) {
      const int64_t count = tokens_of_share(share, one.tokens());
      one.without.push_back(erased.add(row, one.order, 0, count));
      one.alone.push_back(erased.add(row, one.order, count, one.tokens()));
    }
    one.without_one = erased.add(row, one.order, 0, 1);
    return one;
  }

  /// Reads texts until it is known of each ranking how many tokens flip the decision.
  static void search_flips(std::vector<Ranking>& rankings, ErasedOutputs& erased) {
    for (Ranking& one : rankings) {
      one.search.add(1, erased.flipped(one.without_one, one.position));
      for (size_t i = 0; i < one.without.size(); ++i)
        one.search.add(tokens_of_share(erasure_shares()[i], one.tokens()),
                       erased.flipped(one.without[i], one.position));
    }
    for (bool searching = true; searching;) {
      std::vector<std::pair<Ranking*, size_t>> tried;
      for (Ranking& one : rankings)
        if (const auto next = one.search.next()) tried.emplace_back(&one, erased.add(one.row, one.order, 0, *next));
      erased.read_all();
      for (const auto& [one, number] : tried)
        one->search.add(*one->search.next(), erased.flipped(number, one->position));
      searching = !tried.empty();
    }
  }

  static void add_scores(const std::vector<Ranking>& rankings, const ErasedOutputs& erased, const Tensor& whole,
                         const std::vector<NamedAttribution>& attributions, bool number, std::vector<Json>& records) {
    std::map<std::pair<int64_t, size_t>, Scores> all;
    for (const Ranking& one : rankings) {
      Scores& sum = all[{one.row, one.attribution}];
      std::vector<double> without, alone;
      for (size_t i = 0; i < one.without.size(); ++i) {
        without.push_back(erased.probability(one.without[i], one.position));
        alone.push_back(erased.probability(one.alone[i], one.position));
      }
      const ErasureScores scores = erasure_scores(whole[one.row][one.position].item<double>(), without, alone);
      sum.comprehensiveness.resize(without.size());
      sum.sufficiency.resize(without.size());
      for (size_t i = 0; i < without.size(); ++i) {
        sum.comprehensiveness[i] += scores.comprehensiveness[i];
        sum.sufficiency[i] += scores.sufficiency[i];
      }
      sum.comprehensiveness_area += scores.comprehensiveness_area;
      sum.sufficiency_area += scores.sufficiency_area;
      sum.finite = sum.finite && std::isfinite(scores.comprehensiveness_area) && std::isfinite(scores.sufficiency_area);
      const auto flip = one.search.tokens_to_flip();
      sum.flip_one += erased.flipped(one.without_one, one.position) ? 1 : 0;
      sum.flip_share += flip ? static_cast<double>(*flip) / static_cast<double>(one.tokens()) : 1;
      sum.flips += flip ? 1 : 0;
      ++sum.positions;
    }
    for (auto& [key, sum] : all) {
      Json& record = records[static_cast<size_t>(key.first)];
      const auto& name = attributions[key.second].name;
      if (!sum.finite) {
        record["undefined_output_without_tokens_is_not_finite"] = 1;
        continue;
      }
      const auto mean = [count = static_cast<double>(sum.positions)](double total) { return rounded(total / count); };
      for (double& value : sum.comprehensiveness) value = mean(value);
      for (double& value : sum.sufficiency) value = mean(value);
      Json& scores = record["scores"][name];
      scores = {{"comprehensiveness", sum.comprehensiveness},
                {"sufficiency", sum.sufficiency},
                {"comprehensiveness_area", mean(sum.comprehensiveness_area)},
                {"sufficiency_area", mean(sum.sufficiency_area)}};
      if (number) continue;
      scores["flip_one"] = mean(sum.flip_one);
      scores["flip_share"] = mean(sum.flip_share);
      scores["flips"] = mean(sum.flips);
    }
  }

  static void add_by_share(const std::string& key, const std::string& title, const std::vector<std::string>& names,
                           const std::vector<Json>& records, const ResamplingOptions& resampling,
                           ExplanationResult& result) {
    std::vector<ComparedFigure> figures;
    for (size_t i = 0; i < erasure_shares().size(); ++i)
      figures.push_back(ComparedFigure::of_means(
          names, records, [&](const Json& scores) { return std::optional(scores[key][i].get<double>()); }, resampling));
    std::vector<std::pair<std::string, const ComparedFigure*>> columns;
    for (size_t i = 0; i < figures.size(); ++i)
      columns.emplace_back(std::to_string(std::lround(100 * erasure_shares()[i])) + " %", &figures[i]);
    result.tables.push_back(table_of_means(title, names, columns));
    ExplanationPlot plot{.kind = ExplanationPlot::Kind::curve,
                         .title = title,
                         .x_name = "share of tokens, %",
                         .y_name = "loss of probability"};
    for (const auto& name : names) {
      ExplanationPlot::Series series{.name = name};
      for (size_t i = 0; i < figures.size(); ++i)
        if (const auto mean = figures[i].mean(name)) series.points.emplace_back(100 * erasure_shares()[i], *mean);
      plot.series.push_back(std::move(series));
    }
    result.plots.push_back(std::move(plot));
  }

  static ExplanationPlot violin(const std::vector<Json>& records) {
    ExplanationPlot plot{.kind = ExplanationPlot::Kind::violin,
                         .title = "Comprehensiveness of single texts",
                         .y_name = "mean loss of probability"};
    for (const auto* const name : {kAttention, kGradient, kRandom}) {
      ExplanationPlot::Series series{.name = name};
      for (const auto& record : records)
        if (const Json* const scores = scores_of(record, name))
          series.points.emplace_back(0, (*scores)["comprehensiveness_area"].get<double>());
      if (!series.points.empty()) plot.series.push_back(std::move(series));
    }
    return plot;
  }

  /// Speaks for: attention is more comprehensive than drawn orders, not less sufficient, and not less comprehensive
  /// than gradient x input. Speaks against: it is less comprehensive than drawn orders; or it is not more, although
  /// gradient x input is more comprehensive than attention. Each at p < .05, after Holm's correction over the
  /// baselines. Drawn orders are two, random and uniform: what holds must hold for both, so that equal weights, which
  /// are the order of uniform, are never told from it by chance.
  static void add_verdict(const ComparedFigure& comprehensiveness, const ComparedFigure& sufficiency,
                          const std::vector<std::string>& names, ExplanationResult& result) {
    const auto difference = [&](const ComparedFigure& all, const char* name) {
      const bool measured = std::find(names.begin(), names.end(), name) != names.end();
      return measured ? all.difference_to(name) : std::nullopt;
    };
    const auto random = difference(comprehensiveness, kRandom), uniform = difference(comprehensiveness, kUniform),
               gradient = difference(comprehensiveness, kGradient), alone_random = difference(sufficiency, kRandom),
               alone_uniform = difference(sufficiency, kUniform);
    if (!random || !uniform || !gradient || !alone_random || !alone_uniform) {
      result.finding = "Fewer than two texts have figures, so nothing is found.";
      return;
    }
    result.figure_name = "comprehensiveness";
    result.figure = comprehensiveness.cell(kAttention);
    const auto drawn = random->value < uniform->value ? kRandom : kUniform;  // the better of the two
    const std::string lost =
        "Without the tokens that attention ranks first the probability of the prediction falls by " +
        figure(comprehensiveness.cell(kAttention)) + ", in the better of two drawn orders by " +
        figure(comprehensiveness.cell(drawn)) + " (" + p_value(std::max(random->p_holm, uniform->p_holm)) +
        "), in the order of gradient x input by " + figure(comprehensiveness.cell(kGradient)) + " (" +
        p_value(gradient->p_holm) + ")";
    if (comprehensiveness.texts() < kMinTexts) {
      result.finding = lost + ": " + std::to_string(comprehensiveness.texts()) + " texts are too few for a verdict.";
      return;
    }
    const bool better = random->above() && uniform->above();
    std::string judged = "no order is told from a drawn one, so the test decides nothing";
    if (better && gradient->below()) {
      judged = "better than chance, but a gradient finds tokens that matter more";
    } else if (better && alone_random->above() && alone_uniform->above()) {
      judged = "what attention ranks first is needed, but alone it says less than drawn tokens (sufficiency " +
               figure(sufficiency.cell(kAttention)) + ")";
    } else if (better) {
      result.verdict = ExplanationVerdict::speaks_for;
      judged = std::string("the tokens that attention ranks first matter more than drawn ones, and ") +
               (gradient->above() ? "more than those of the gradient"
                                  : "those of the gradient are not shown to matter more");
    } else if (random->below() && uniform->below()) {
      result.verdict = ExplanationVerdict::speaks_against;
      judged = "what attention ranks first matters less than drawn tokens";
    } else if (gradient->below()) {
      result.verdict = ExplanationVerdict::speaks_against;
      judged = "the order of weights is no better than a drawn one, while a gradient finds tokens that matter more";
    }
    result.finding = lost + ": " + judged + ".";
  }

  static void add_examples(const std::vector<Json>& records, const TestSummaryOptions& options,
                           ExplanationResult& result) {
    if (options.model == nullptr) return;
    std::vector<std::pair<double, const Json*>> order;
    for (const auto& record : records) {
      const Json* const scores = scores_of(record, kAttention);
      if (scores != nullptr && record.contains("item") && record["tokens"].get<int64_t>() > 1)
        order.emplace_back((*scores)["comprehensiveness_area"].get<double>(), &record);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const size_t count = std::min(options.examples, (order.size() + 1) / 2);
    for (size_t i = 0; i < count; ++i)
      result.examples.push_back(
          example("Lost most without attention's first tokens", *order[i].second, *options.model));
    for (size_t i = 0; i < std::min(count, order.size() - count); ++i)
      result.examples.push_back(
          example("Lost nothing, or gained", *order[order.size() - 1 - i].second, *options.model));
  }

  static ExplanationExample example(const std::string& title, const Json& record, const ExplainedModel& model) {
    const ExplainedText& text = model.texts().at(record["item"].get<size_t>());
    const auto& classes = model.facts().classes;
    const Json& scores = *scores_of(record, kAttention);
    ExplanationExample one{.title = title + ": " + text.id, .tokens = text.tokens};
    const auto name_of = [&](int64_t c) {
      return c >= 0 && c < std::ssize(classes) ? classes[static_cast<size_t>(c)] : std::to_string(c);
    };
    if (record.contains("predicted")) {
      one.remark = name_of(record["predicted"].get<int64_t>()) + " with " + figure(record["probability"].get<double>());
      std::string gold;
      for (const int64_t c : text.gold) gold += (gold.empty() ? "" : ", ") + name_of(c);
      if (!gold.empty()) one.remark += ", gold " + gold;
      one.remark += "; ";
    }
    one.remark += "comprehensiveness " + figure(scores["comprehensiveness_area"].get<double>()) + ", sufficiency " +
                  figure(scores["sufficiency_area"].get<double>());
    if (record.contains("predicted") && scores.contains("flips"))
      one.remark += scores["flips"].get<double>() > 0
                        ? ", flips without " +
                              std::to_string(std::lround(scores["flip_share"].get<double>() *
                                                         static_cast<double>(text.tokens.size()))) +
                              " of " + std::to_string(text.tokens.size()) + " tokens"
                        : ", never flips";
    for (const auto& [name, weights] : record["maps"].items())
      if (weights.size() == text.tokens.size()) one.maps.push_back({name, weights.get<std::vector<double>>()});
    return one;
  }
};

const Catalogue<ExplanationTest>::Entry erasure_entry{
    "erasure",
    make_part<ExplanationTest, Erasure>,
    {.formula = "p(y | x) - p(y | x without the first tokens)",
     .paper = "DeYoung et al., 2020",
     .cost = "a text is read about 60 times, and once for each token",
     .choose = "whether the order of the weights is that of what matters"}};

}  // namespace
}  // namespace heed
