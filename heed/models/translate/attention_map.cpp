#include "heed/models/translate/attention_map.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr const char *kBeginMarker = "<s>", *kEndMarker = "</s>";

/// The words along one axis of the weights, and the word of each position (-1: none).
struct WordAxis {
  std::vector<std::string> labels;
  std::vector<int64_t> word;
};

WordAxis words_axis(const Segmentation& segmentation) {
  return {segmentation.words, segmentation.word};
}

WordAxis words_and_end(const Segmentation& segmentation) {
  WordAxis axis = words_axis(segmentation);
  axis.word.push_back(static_cast<int64_t>(axis.labels.size()));
  axis.labels.emplace_back(kEndMarker);
  return axis;
}

WordAxis begin_and_words(const Segmentation& segmentation) {
  WordAxis axis{{kBeginMarker}, {0}};
  axis.labels.insert(axis.labels.end(), segmentation.words.begin(), segmentation.words.end());
  for (const int64_t word : segmentation.word) axis.word.push_back(word < 0 ? -1 : word + 1);
  return axis;
}

std::string attention_name(AttentionKind kind) {
  return kind == AttentionKind::cross     ? "cross-attention"
         : kind == AttentionKind::encoder ? "the encoder's self-attention"
                                          : "the decoder's self-attention";
}

/// Names of the steps of that kind, one for each layer.
std::vector<std::string> layers_of(const Steps& steps, AttentionKind kind) {
  const std::string begin = kind == AttentionKind::encoder ? "encoder." : "decoder.",
                    end = kind == AttentionKind::cross ? "cross" : "self";
  std::vector<std::string> names;
  for (const auto& [name, attended] : steps)
    if (name.starts_with(begin) && name.ends_with(end)) names.push_back(name);
  check(!names.empty(), "attend: got ", attention_name(kind),
        ", expected cross-attention; only a Transformer has self-attention");
  return names;
}

/// A source and its translation, in tokens.
struct TokenPair {
  Segmentation source, target;
};

class AttentionMapper {
 public:
  AttentionMapper(Translator& translator, const AttentionChoice& choice)
      : model_(translator.model()), device_(model_.parameters().front().device()), choice_(choice) {}

  AttentionMap map(const TokenPair& pair) {
    AttentionMap map;
    map.source_words = pair.source.words;
    map.target_words = pair.target.words;
    if (pair.source.ids.empty()) return map;
    const Tensor weights = weights_of(pair, map);  // [Lq, Lk]
    const bool self_of_encoder = choice_.kind == AttentionKind::encoder;
    const WordAxis rows = choice_.kind == AttentionKind::cross ? words_axis(pair.target)
                          : self_of_encoder                    ? words_and_end(pair.source)
                                                               : words_and_end(pair.target),
                   columns = choice_.kind == AttentionKind::decoder ? begin_and_words(pair.target)
                                                                    : words_and_end(pair.source);
    map.rows = rows.labels;
    map.columns = columns.labels;
    map.weights = merged_to_words(rows_of(weights), columns.word, rows.word);
    map.weights.resize(rows.labels.size());  // a word may have no token of its own
    for (auto& row : map.weights) row.resize(columns.labels.size());
    return map;
  }

 private:
  /// Of the chosen layer and head; notes in the map which they are.
  Tensor weights_of(const TokenPair& pair, AttentionMap& map) {
    const at::NoGradGuard no_grad;
    Call call;
    call.outputs.weights = true;
    const Steps steps = model_.attention_steps(collate({{pair.source.ids}, {pair.target.ids}}, {0}).to(device_), call);
    const Tensor heads = chosen_layer(steps, map)[0].to(at::kCPU, at::kDouble);  // [H, Lq, Lk]
    map.heads = heads.size(0);
    map.head = choice_.head;
    check(choice_.head >= 0 && choice_.head <= map.heads, "attend: got head ", choice_.head, ", expected 1 to ",
          map.heads);
    Tensor weights = choice_.head == 0 ? heads.mean(0) : heads[choice_.head - 1];
    check(weights.isfinite().all().item<bool>(),
          "attend: got attention weights that are NaN or infinite, expected finite ones; the model's parameters are "
          "damaged, or its training diverged");
    if (choice_.kind != AttentionKind::cross) return weights;
    const auto tokens = static_cast<int64_t>(pair.target.ids.size());
    // align_shift belongs to the layer that aligns: its weights of the next step show what a word comes from.
    const bool shifted = model_.shifts_alignment() && map.layer == aligning_layer(steps);
    weights = weights.narrow(0, shifted ? 1 : 0, tokens);  // without the step that writes </s>
    if (model_.attention().has_weights()) return weights;
    const auto keys = static_cast<int64_t>(pair.source.ids.size()) + 1;
    return at::full({tokens, keys}, 1.0 / static_cast<double>(keys), weights.options());
  }

  Tensor chosen_layer(const Steps& steps, AttentionMap& map) const {
    const auto names = layers_of(steps, choice_.kind);
    map.layers = std::ssize(names);
    check(choice_.layer >= 0 && choice_.layer <= map.layers, "attend: got layer ", choice_.layer, ", expected 1 to ",
          map.layers);
    const bool cross = choice_.kind == AttentionKind::cross;
    map.layer = choice_.layer > 0 ? choice_.layer : cross ? aligning_layer(steps) : map.layers;
    return model_.head_weights(steps, names[static_cast<size_t>(map.layer) - 1]);
  }

  /// The layer of cross-attention that makes links, counted from 1; the last if the model names none.
  int64_t aligning_layer(const Steps& steps) const {
    const auto names = layers_of(steps, AttentionKind::cross);
    const auto found = std::find(names.begin(), names.end(), "decoder." + model_.aligning_step());
    return found == names.end() ? std::ssize(names) : found - names.begin() + 1;
  }

  static WeightRows rows_of(const Tensor& given) {
    const Tensor weights = given.contiguous();
    WeightRows all;
    for (int64_t i = 0; i < weights.size(0); ++i) {
      const double* row = weights.data_ptr<double>() + i * weights.size(1);
      all.emplace_back(row, row + weights.size(1));
    }
    return all;
  }

  TranslationModel& model_;
  at::Device device_;
  AttentionChoice choice_;
};

/// The translator's own translation of each source, in tokens.
std::vector<Segmentation> own_translations(Translator& translator, const std::vector<Segmentation>& sources,
                                           const SearchOptions& options) {
  const at::Device device = translator.model().parameters().front().device();
  std::vector<Segmentation> targets;
  for (const auto& source : sources) {
    targets.emplace_back();
    if (source.ids.empty()) continue;
    const PairBatch batch = collate({{source.ids}, {}}, {0}).to(device);
    const auto found = search(translator.model(), batch.source, batch.source_keep, options);
    targets.back() = translator.languages().target->segment(found[0].front().tokens);
  }
  return targets;
}

}  // namespace

std::vector<AttentionMap> attention_maps(Translator& translator, const std::vector<std::string>& sources,
                                         const std::vector<std::string>& targets, const SearchOptions& options,
                                         const AttentionChoice& choice) {
  check(targets.empty() || targets.size() == sources.size(), "attend: got ", sources.size(), " sources and ",
        targets.size(), " targets, expected a target for each source, or none");
  const Languages& languages = translator.languages();
  std::vector<Segmentation> from, to;
  for (const auto& source : sources) from.push_back(languages.source->segment(languages.prepared(source)));
  for (const auto& target : targets) to.push_back(languages.target->segment(languages.prepared(target)));
  if (targets.empty()) to = own_translations(translator, from, options);
  AttentionMapper mapper(translator, choice);
  std::vector<AttentionMap> maps;
  for (size_t i = 0; i < from.size(); ++i) maps.push_back(mapper.map({from[i], to[i]}));
  return maps;
}

}  // namespace heed
