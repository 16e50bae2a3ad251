// heed eval RUN --attention GOLD of a translator: cross-attention under forced decoding against gold links, as links
// and as weights, next to the diagonal. A few pairs are in memory at a time.

#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/cli/torch/device.h"
#include "apps/cli/torch/eval_attention.h"
#include "apps/cli/torch/eval_attention_agreement.h"

#include "heed/base/check.h"
#include "heed/base/links.h"
#include "heed/base/scalar.h"
#include "heed/base/shuffle.h"
#include "heed/data/corpus.h"
#include "heed/data/recipe.h"
#include "heed/data/text_file.h"
#include "heed/metrics/alignment_error.h"
#include "heed/models/translate/attention_map.h"
#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

constexpr size_t kPairsAtOnce = 32;

Translator loaded_translator(const std::string& run, const std::string& device) {
  Translator translator = Translator::load(run, device_of(device));
  check(translator.model().aligns(), "eval: the model in ", run, " has no attention to compare with links, expected ",
        "a model with attention");
  return translator;
}

/// The set with the gold links of --attention: a file of Pharaoh lines, or a column of the set's own file.
TextPairs gold_pairs(const EvalAttentionArguments& a) {
  const Settings recipe = read_recipe(a.run + "/recipe.yaml", a.overrides);
  CorpusOptions options = read_corpus_options(recipe.at("data"));
  const bool dev = a.set == "dev";
  int64_t column = 0;
  const bool is_column = read_integer(a.table.file, column);
  const std::string file = is_column ? a.table.file : std::filesystem::absolute(a.table.file).string();
  (dev ? options.dev_links : options.links) = {file};
  options.links_from_one = a.links_from_one;
  options.lowercase = options.unescape = false;  // a translator prepares texts itself
  Corpus corpus = read_corpus(options);
  TextPairs pairs = std::move(dev ? corpus.dev : corpus.test);
  check(pairs.size() > 0, "eval: got --set ", a.set, ", expected a set that the run's recipe has");
  if (options.is_grammar()) {
    const auto lines = read_lines_of(file, "the links of a sentence pair on each line");
    check(lines.size() == pairs.size(), "eval: ", file, ": got ", lines.size(), " lines of links, expected ",
          pairs.size(), ", one for each pair of the set");
    pairs.links.clear();
    for (const auto& line : lines) pairs.links.push_back(parse_links(line, {.from_one = a.links_from_one}));
  }
  if (a.swapped)
    for (auto& links : pairs.links) links = swapped(std::move(links));
  return pairs;
}

/// Links of the diagonal: the target word at a share of its sentence to the source word at the same share.
Links diagonal(size_t source_words, size_t target_words) {
  Links links;
  for (size_t target = 0; source_words > 0 && target < target_words; ++target) {
    const double share = (static_cast<double>(target) + 0.5) / static_cast<double>(target_words);
    links.push_back({static_cast<int64_t>(share * static_cast<double>(source_words)), static_cast<int64_t>(target)});
  }
  return links;
}

/// Weights that fall with the distance to the diagonal, and none on the end marker.
std::vector<double> diagonal_weights(size_t target, size_t source_words, size_t target_words) {
  const double center =
      (static_cast<double>(target) + 0.5) / static_cast<double>(target_words) * static_cast<double>(source_words) - 0.5;
  std::vector<double> weights;
  for (size_t source = 0; source < source_words; ++source)
    weights.push_back(1 / (1 + std::abs(static_cast<double>(source) - center)));
  weights.push_back(0);
  return weights;
}

/// Alignment error of one way to make links, pair by pair.
class LinkTally {
 public:
  explicit LinkTally(std::string name) : name_(std::move(name)) {}

  void add(const Links& links, const Links& gold) {
    const AlignmentError one = alignment_error({links}, {gold});
    rows_.push_back({static_cast<double>(one.links), static_cast<double>(one.sure), static_cast<double>(one.sure_hits),
                     static_cast<double>(one.possible_hits)});
  }

  LinkFigures figures(const ResamplingOptions& options) const {
    const auto error = [](const std::vector<double>& sum) {
      return sum[0] + sum[1] > 0 ? 1 - (sum[2] + sum[3]) / (sum[0] + sum[1]) : 0;
    };
    std::vector<double> sum(4, 0);
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
    const Interval interval = bootstrap_intervals(resampled({Statistics{rows_, error}}), options).front();
    return {.name = name_,
            .error = error(sum),
            .precision = sum[0] > 0 ? sum[3] / sum[0] : 0,
            .recall = sum[1] > 0 ? sum[2] / sum[1] : 0,
            .low = interval.low,
            .high = interval.high};
  }

 private:
  std::string name_;
  std::vector<std::vector<double>> rows_;  // links, sure links, sure hits, possible hits
};

class LinkEvaluation {
 public:
  explicit LinkEvaluation(const EvalAttentionArguments& a)
      : a_(a),
        pairs_(gold_pairs(a)),
        translator_(loaded_translator(a.run, a.device)),
        random_(static_cast<uint64_t>(a.seed)) {
    for (const auto& run : a.agree) others_.push_back(loaded_translator(run, a.device));
    if (a.reverse.empty()) return;
    reverse_.push_back(loaded_translator(a.reverse, a.device));
    for (const char* name : {"backward", "intersection", "union", "grow_diag_final_and", "product"})
      both_.emplace_back(name);
  }

  AttentionReport report() {
    for (size_t begin = 0; begin < pairs_.size(); begin += kPairsAtOnce)
      measure(begin, std::min(pairs_.size(), begin + kPairsAtOnce));
    AttentionReport report{
        .run = a_.run, .gold = a_.table.file, .item = "pairs", .one_case = "target words with links"};
    report.resampling = {.samples = a_.samples, .seed = static_cast<uint64_t>(a_.seed)};
    report.counts = {{"pairs", static_cast<int64_t>(pairs_.size())},
                     {"target_words", target_words_},
                     {"target_words_without_gold_links", without_gold_},
                     {"gold_links", gold_links_},
                     {"gold_links_out_of_range", out_of_range_}};
    add_degenerate(report, attention_.degenerate(), true);
    report.links.push_back(forward_.figures(report.resampling));
    for (const auto& one : both_) report.links.push_back(one.figures(report.resampling));
    report.links.push_back(diagonal_.figures(report.resampling));
    report.maps.push_back({"attention", attention_.figures(report.resampling)});
    report.maps.push_back({"equal", equal_.figures(report.resampling)});
    report.maps.push_back({"random", random_map_.figures(report.resampling)});
    report.maps.push_back({"diagonal", diagonal_map_.figures(report.resampling)});
    heads_.report(report);
    layers_.report(report);
    std::vector<std::string> runs{a_.run};
    runs.insert(runs.end(), a_.agree.begin(), a_.agree.end());
    runs_.report(report, std::move(runs));
    add_meaning(report);
    return report;
  }

 private:
  using Lines = std::vector<std::string>;

  void measure(size_t begin, size_t end) {
    const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
    const Lines sources(pairs_.source.begin() + from, pairs_.source.begin() + to),
        targets(pairs_.target.begin() + from, pairs_.target.begin() + to);
    const auto forward = translator_.score(sources, targets);
    std::vector<Translation> backward;
    if (!reverse_.empty()) backward = reverse_.front().score(targets, sources);
    std::vector<std::vector<Translation>> of_others;
    for (auto& other : others_) of_others.push_back(other.score(sources, targets));
    for (size_t i = 0; i < forward.size(); ++i) {
      const size_t pair = begin + i;
      Links gold = pairs_.links[pair];
      out_of_range_ += remove_out_of_range(gold, forward[i].source_words.size(), forward[i].target_words.size());
      gold_links_ += std::ssize(gold);
      add_links(forward[i], backward.empty() ? nullptr : &backward[i], gold);
      add_weights(forward[i], gold, pair);
      std::vector<const Translation*> runs{&forward[i]};
      for (const auto& other : of_others) runs.push_back(&other[i]);
      add_runs(runs, pair);
      add_heads(sources[i], targets[i], pair);
    }
  }

  void add_links(const Translation& forward, const Translation* backward, const Links& gold) {
    const Links links = strongest_links(forward.weights);
    forward_.add(links, gold);
    diagonal_.add(diagonal(forward.source_words.size(), forward.target_words.size()), gold);
    if (backward == nullptr) return;
    const Links back = swapped(strongest_links(backward->weights));
    both_[0].add(back, gold);
    both_[1].add(symmetrized(links, back, Symmetry::intersection), gold);
    both_[2].add(symmetrized(links, back, Symmetry::either), gold);
    both_[3].add(symmetrized(links, back, Symmetry::grow_diag_final_and), gold);
    both_[4].add(mutual_links(agreement(forward.weights, backward->weights)), gold);
  }

  /// The weights of a target word on the source words and the end marker.
  static std::vector<double> row_of(const Translation& one, size_t target) {
    std::vector<double> row = one.weights[target];
    row.push_back(one.end_weights[target]);
    return row;
  }

  void add_weights(const Translation& forward, const Links& gold, size_t pair) {
    const size_t sources = forward.source_words.size(), targets = forward.target_words.size();
    std::vector<std::vector<bool>> relevant(targets, std::vector<bool>(sources + 1, false));
    for (const Link& link : gold) relevant[static_cast<size_t>(link.target)][static_cast<size_t>(link.source)] = true;
    for (size_t target = 0; target < targets; ++target) {
      ++target_words_;
      AttentionCase one{.weights = row_of(forward, target), .relevant = relevant[target]};
      one.gold.assign(relevant[target].begin(), relevant[target].end());
      if (std::find(relevant[target].begin(), relevant[target].end(), true) == relevant[target].end()) {
        ++without_gold_;
        continue;
      }
      attention_.add(one, pair);
      one.weights.assign(sources + 1, 1);
      equal_.add(one, pair);
      for (double& weight : one.weights) weight = static_cast<double>(random_() >> 11U) * 0x1p-53;
      random_map_.add(one, pair);
      one.weights = diagonal_weights(target, sources, targets);
      diagonal_map_.add(one, pair);
    }
  }

  void add_runs(const std::vector<const Translation*>& runs, size_t pair) {
    if (runs.size() < 2) return;
    for (size_t target = 0; target < runs.front()->target_words.size(); ++target) {
      std::vector<std::vector<double>> maps;
      for (const auto* run : runs) {
        check(run->target_words == runs.front()->target_words && run->source_words == runs.front()->source_words,
              "eval: ", pairs_.origins.empty() ? "pair " + std::to_string(pair + 1) : pairs_.origins[pair],
              ": got other words as a run of --agree reads them, expected the same; runs that are compared read texts ",
              "in the same way");
        maps.push_back(row_of(*run, target));
      }
      runs_.add(maps, pair);
    }
  }

  AttentionMap map_of(const std::string& source, const std::string& target, int64_t layer, int64_t head) {
    return attention_maps(translator_, {source}, {target}, {}, {.layer = layer, .head = head}).front();
  }

  /// Each head of the layer that aligns; each layer, with the mean of its heads.
  void add_heads(const std::string& source, const std::string& target, size_t pair) {
    if (layers_count_ == 1 && heads_count_ == 1) return;
    const AttentionMap aligning = map_of(source, target, 0, 0);
    if (aligning.layers == 0) return;  // no tokens
    layers_count_ = aligning.layers;
    heads_count_ = aligning.heads;
    std::vector<AttentionMap> heads, layers;
    for (int64_t head = 1; heads_count_ > 1 && head <= heads_count_; ++head)
      heads.push_back(map_of(source, target, aligning.layer, head));
    for (int64_t layer = 1; layers_count_ > 1 && layer <= layers_count_; ++layer)
      layers.push_back(map_of(source, target, layer, 0));
    for (size_t row = 0; row < aligning.rows.size(); ++row)
      for (const auto& [maps, tally] : {std::pair{&heads, &heads_}, {&layers, &layers_}}) {
        std::vector<std::vector<double>> rows;
        for (const auto& map : *maps) rows.push_back(map.weights[row]);
        tally->add(rows, pair);
      }
  }

  const EvalAttentionArguments& a_;
  TextPairs pairs_;
  Translator translator_;
  std::vector<Translator> others_, reverse_;
  SplitMix random_;
  LinkTally forward_{"forward"}, diagonal_{"diagonal"};
  std::vector<LinkTally> both_;
  AttentionTally attention_, equal_, random_map_, diagonal_map_;
  AgreementTally heads_{"heads", a_.overlap_words}, layers_{"layers", a_.overlap_words},
      runs_{"runs", a_.overlap_words};
  int64_t layers_count_ = 0, heads_count_ = 0;  // 0: not known yet
  int64_t target_words_ = 0, without_gold_ = 0, gold_links_ = 0, out_of_range_ = 0;
};

}  // namespace

AttentionReport attention_to_sources(const EvalAttentionArguments& a) {
  return LinkEvaluation(a).report();
}

}  // namespace heed::cli
