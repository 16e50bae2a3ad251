// heed eval RUN --attention GOLD of a classifier: the weights of words against rationales, reading times or any weights
// of people, next to baselines that read nothing. One text is in memory at a time.

#include <map>
#include <memory>

#include "apps/cli/eval_attention_gold.h"
#include "apps/cli/eval_attention_words.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/eval_attention.h"
#include "apps/cli/torch/eval_attention_agreement.h"
#include "apps/cli/torch/eval_attention_maps.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/shuffle.h"
#include "heed/data/labeled/labeled_corpus.h"
#include "heed/data/recipe.h"

namespace heed::cli {
namespace {

Classifier loaded_classifier(const std::string& run, const std::string& device) {
  Classifier classifier = Classifier::load(run, device_of(device));
  check(classifier.reader().columns.size() == 1, "eval: ", run, ": got a model of ", classifier.reader().columns.size(),
        " texts (", joined(classifier.reader().columns), "), expected one; --attention is for classifiers of one text");
  return classifier;
}

/// The examples of the run's recipe with their texts as in the files: a run prepares them when it reads.
LabeledCorpus examples_of_run(const EvalAttentionArguments& a, LabelForm form) {
  const Settings recipe = read_recipe(a.run + "/recipe.yaml", a.overrides);
  LabeledOptions options = read_labeled_options(recipe.at("data"), form == LabelForm::one);
  options.examples.phrases = false;
  options.examples.sentences = "none";
  options.examples.lowercase = false;
  return read_labeled_corpus(options);
}

/// The number of the line of "train.tsv:17"; of built-in texts their number.
std::string line_of(const std::string& origin, size_t index) {
  const size_t colon = origin.rfind(':');
  return colon == std::string::npos ? std::to_string(index + 1) : origin.substr(colon + 1);
}

/// Texts of a set by id, or by line number if it has no ids.
std::map<std::string, std::string> texts_by_id(const Examples& examples, const std::string& set) {
  check(examples.size() > 0, "eval: got --set ", set, ", expected a set that the run's recipe has");
  std::map<std::string, std::string> texts;
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::string id = examples.ids.empty() ? line_of(examples.origins[i], i) : examples.ids[i];
    check(texts.emplace(id, examples.texts[i].front()).second, "eval: ", examples.origins[i], ": got the id '",
          excerpt(id), "' again, expected each once; gold weights without texts are found by it");
  }
  return texts;
}

bool has_control(const EvalAttentionArguments& a, const std::string& name) {
  return std::find(a.controls.begin(), a.controls.end(), name) != a.controls.end();
}

class TextEvaluation {
 public:
  explicit TextEvaluation(const EvalAttentionArguments& a)
      : a_(a), classifier_(loaded_classifier(a.run, a.device)), random_(static_cast<uint64_t>(a.seed)) {
    for (const auto& run : a.agree) others_.push_back(loaded_classifier(run, a.device));
    gold_ = read_gold_weights(a.table);
    if (!gold_.has_text || has_control(a, "frequency")) read_set();
    for (const auto& control : a.controls)
      check(control != "none" || a.controls.size() == 1, "eval: got --controls ", joined(a.controls),
            ", expected none alone, or length and frequency");
    rationales_ = a.relevant_above || gold_.binary();
    const AttentionScoreOptions options{.top_share = rationales_ ? relevant_share() : 0};
    attention_ = std::make_unique<AttentionTally>(options);
    for (const auto& name : baselines()) {
      const bool is_distribution = name == "equal" || name == "random";
      baselines_.emplace_back(name, AttentionTally({.top_share = options.top_share, .spread = is_distribution}));
    }
  }

  AttentionReport report() {
    AttentionReport report{.run = a_.run, .gold = a_.table.file};
    report.resampling = {.samples = a_.samples, .seed = static_cast<uint64_t>(a_.seed)};
    for (const auto& one : gold_.texts) measure(one);
    check(items_ > 0, "eval: ", a_.table.file, ": got no text with words", missing_ > 0 ? " in the set" : "",
          ", expected at least one; ids are in --id-column, and texts in --text-column or in the run's --set");
    report.counts = {{"texts", static_cast<int64_t>(items_)},
                     {"words", words_},
                     {"not_in_the_set", missing_},
                     {"without_words", without_words_},
                     {"words_not_read", not_read_}};
    add_degenerate(report, attention_->degenerate(), rationales_);
    report.maps.push_back({"attention", attention_->figures(report.resampling)});
    for (const auto& [name, tally] : baselines_) report.maps.push_back({name, tally.figures(report.resampling)});
    add_differences(report);
    heads_.report(report);
    calls_.report(report);
    queries_.report(report);
    std::vector<std::string> runs{a_.run};
    runs.insert(runs.end(), a_.agree.begin(), a_.agree.end());
    runs_.report(report, std::move(runs));
    if (!classifier_.model().attention().attends())
      report.notes.emplace_back("The model has no attention: its weights are taken to be equal.");
    add_meaning(report);
    return report;
  }

 private:
  void read_set() {
    const LabeledCorpus corpus = examples_of_run(a_, classifier_.labels().form);
    if (!gold_.has_text) texts_ = texts_by_id(a_.set == "dev" ? corpus.dev : corpus.test, a_.set);
    if (!has_control(a_, "frequency")) return;
    for (const auto& texts : corpus.train.texts)
      for (const auto& text : texts) frequency_.add(text);
  }

  std::vector<std::string> baselines() const {
    std::vector<std::string> names{"equal", "random", "length"};
    if (has_control(a_, "frequency")) names.emplace_back("rarity");
    return names;
  }

  void add_differences(AttentionReport& report) const {
    for (const std::string figure : {"average_precision", "roc_auc", "spearman"}) {
      const std::string strongest = strongest_of(report, {"length", "rarity"}, figure);
      for (const auto& [name, tally] : baselines_) {
        if (name != strongest) continue;
        if (const auto found = attention_->difference_to(tally, figure, report.resampling))
          report.differences.push_back({figure, name, *found});
      }
    }
  }

  bool relevant(double weight) const { return a_.relevant_above ? weight > *a_.relevant_above : weight == 1; }

  /// The share of relevant words in the set.
  double relevant_share() const {
    double words = 0, found = 0;
    for (const auto& one : gold_.texts)
      for (const double weight : one.weights) {
        words += 1;
        found += relevant(weight) ? 1 : 0;
      }
    return words > 0 ? found / words : 0;
  }

  void measure(const GoldText& gold) {
    std::string text = gold.text;
    if (!gold_.has_text) {
      const auto found = texts_.find(gold.id);
      if (found == texts_.end()) {
        ++missing_;
        return;
      }
      text = found->second;
    }
    const size_t words = word_count(classifier_, text);
    check(words == gold.weights.size(), "eval: ", gold.where, ": got ", gold.weights.size(), " gold weights for the ",
          words, " words that the run reads, expected one for each",
          gold_.has_text ? ""
                         : "; the id '" + excerpt(gold.id) + "' may be of another text in --set " + a_.set +
                               ": choose ids by --id-column, or --text-column if the gold has texts of its own");
    if (words == 0) {
      ++without_words_;
      return;
    }
    const WordMaps maps = word_maps(classifier_, text, words, gold.where);
    std::vector<WordMap> of_runs{maps.weights};
    for (auto& other : others_) of_runs.push_back(map_of_other(other, text, words, gold.where));
    heads_.add(maps.heads, items_);
    calls_.add(maps.calls, items_);
    queries_.add(maps.queries, items_);
    runs_.add(of_runs, items_);
    score(gold, words_of(text), maps.weights);
    not_read_ += maps.words_not_read;
    words_ += static_cast<int64_t>(words);
    ++items_;
  }

  static WordMap map_of_other(Classifier& other, const std::string& text, size_t words, const std::string& where) {
    const size_t found = word_count(other, text);
    check(found == words, "eval: ", where, ": got ", found, " words as a run of --agree reads them, expected ", words,
          "; runs that are compared read texts in the same way");
    return word_maps(other, text, words, where, /*alone=*/true).weights;
  }

  std::vector<std::string> words_of(const std::string& text) const {
    TextReader whole = classifier_.reader();
    whole.max_length = 0;
    std::vector<std::string> words;
    for (const auto& sentence : whole.read(text).sentences)
      words.insert(words.end(), sentence.words.begin(), sentence.words.end());
    return words;
  }

  void score(const GoldText& gold, const std::vector<std::string>& words, const WordMap& weights) {
    AttentionCase one{.weights = weights, .gold = gold.weights};
    WordMap length, frequency, rarity, random;
    for (const auto& word : words) {
      length.push_back(word_length(word));
      frequency.push_back(frequency_.log_frequency(word));
      rarity.push_back(frequency_.rarity(word));
      random.push_back(static_cast<double>(random_() >> 11U) * 0x1p-53);
    }
    if (has_control(a_, "length")) one.controls.push_back(length);
    if (has_control(a_, "frequency")) one.controls.push_back(frequency);
    if (rationales_)
      for (const double weight : gold.weights) one.relevant.push_back(relevant(weight));
    attention_->add(one, items_);
    for (auto& [name, tally] : baselines_) {
      one.weights = name == "equal"    ? WordMap(words.size(), 1)
                    : name == "random" ? random
                    : name == "length" ? length
                                       : rarity;
      tally.add(one, items_);
    }
  }

  const EvalAttentionArguments& a_;
  Classifier classifier_;
  std::vector<Classifier> others_;
  GoldWeights gold_;
  std::map<std::string, std::string> texts_;  // of the set, by id, if the gold has no texts
  WordFrequency frequency_;
  bool rationales_ = false;
  SplitMix random_;
  std::unique_ptr<AttentionTally> attention_;
  std::vector<std::pair<std::string, AttentionTally>> baselines_;
  AgreementTally heads_{"heads", a_.overlap_words}, calls_{"calls", a_.overlap_words},
      queries_{"queries", a_.overlap_words}, runs_{"runs", a_.overlap_words};
  size_t items_ = 0;
  int64_t words_ = 0, missing_ = 0, without_words_ = 0, not_read_ = 0;
};

}  // namespace

AttentionReport attention_to_texts(const EvalAttentionArguments& a) {
  return TextEvaluation(a).report();
}

}  // namespace heed::cli
