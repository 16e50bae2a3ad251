#include "heed/models/translate/translator.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "heed/base/utf8.h"
#include "heed/data/file.h"
#include "heed/data/parallel_text.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"
#include "heed/models/model_memory.h"
#include "heed/torch_support/model_file.h"

namespace heed {
namespace {

constexpr const char *kJoint = "/tokenizer.json", *kSource = "/tokenizer.source.json",
                     *kTarget = "/tokenizer.target.json";

// Source tokens of a batch. A decoding step costs a GPU hardly more for many sentences than for few.
constexpr int64_t kBatchTokens = 4000, kBatchTokensOnGpu = 16000;

/// Batches by length, without empty sentences.
std::vector<Rows> groups_of(const IdPairs& pairs, int64_t tokens) {
  auto groups = batches_by_length(pairs, tokens);
  for (auto& group : groups)
    group.erase(std::remove_if(group.begin(), group.end(),
                               [&](int64_t row) { return pairs.source[static_cast<size_t>(row)].empty(); }),
                group.end());
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const Rows& group) { return group.empty(); }),
               groups.end());
  return groups;
}

/// rows [T, S], double, on the CPU.
WeightRows rows_of(const Tensor& rows) {
  WeightRows all;
  for (int64_t t = 0; t < rows.size(0); ++t) {
    const double* row = rows.data_ptr<double>() + t * rows.size(1);
    all.emplace_back(row, row + rows.size(1));
  }
  return all;
}

}  // namespace

WordWeights word_weights(const Segmentation& source, const Segmentation& target, WeightRows pieces) {
  auto columns = source.word;
  const auto end = static_cast<int64_t>(source.words.size());
  columns.push_back(end);
  pieces.resize(target.ids.size());
  for (auto& row : pieces) row.resize(columns.size());
  WordWeights out;
  out.words = merged_to_words(pieces, columns, target.word);
  out.words.resize(target.words.size());  // a word may have no piece
  for (auto& row : out.words) {
    row.resize(source.words.size() + 1);
    out.end.push_back(row.back());
    row.pop_back();
  }
  return out;
}

std::string Languages::prepared(const std::string& text) const {
  const std::string plain = unescape ? unescaped(text) : text;
  return lowercase ? lowered(plain) : plain;
}

void Languages::save(const std::string& folder) const {
  for (const char* stale : {kJoint, kSource, kTarget}) ::unlink((folder + stale).c_str());  // left by an earlier run
  if (joint()) return source->save(folder + kJoint);
  source->save(folder + kSource);
  target->save(folder + kTarget);
}

Languages Languages::load(const std::string& folder) {
  Languages languages;
  const auto files = checked_tokenizers(folder);
  languages.source = load_tokenizer(files.front());
  languages.target = files.size() == 1 ? languages.source : load_tokenizer(files.back());
  return languages;
}

Translator::Translator(std::shared_ptr<TranslationModel> model, Languages languages)
    : model_(std::move(model)), languages_(std::move(languages)), device_(model_->parameters().front().device()) {}

Translator Translator::load(const std::string& folder, at::Device device) {
  check_run(folder);
  const std::string config = folder + "/config.json";
  check(exists(folder + "/model.safetensors"), "translate: ", folder,
        " has no model.safetensors yet: training writes it at the first validation");
  read_config(folder);  // checks the format
  const Settings settings = read_recipe(config);
  const std::string task = settings.text("task");
  check(task == "translate", config, ": task is '", task, "', expected translate");
  Languages languages = Languages::load(folder);
  languages.lowercase = settings.flag("lowercase", false);
  languages.unescape = settings.flag("unescape", false);
  auto model = within_memory(settings.at("model"), 1, "weights", [&] {
    return std::make_shared<TranslationModel>(settings.at("model"), languages.vocabularies());
  });
  model->to(device);
  load_model(*model, folder);
  model->eval();
  return {std::move(model), std::move(languages)};
}

Translation Translator::worded(const Segmentation& source, const Segmentation& target, WeightRows weights,
                               size_t line) const {
  Translation out;
  out.text = target.text;
  out.source_words = source.words;
  out.target_words = target.words;
  out.tokens = static_cast<int64_t>(target.ids.size()) + 1;
  if (weights.empty()) return out;
  for (const auto& row : weights)
    for (const double weight : row)
      check(std::isfinite(weight), "translate: line ", line + 1, ": got attention weights that are NaN or infinite, ",
            "expected finite ones; the model's parameters are damaged, or its training diverged");
  // With align_shift, the weights of a piece are those of the step that has it as input.
  if (model_->shifts_alignment()) weights.erase(weights.begin());
  auto aligned = word_weights(source, target, std::move(weights));
  out.weights = std::move(aligned.words);
  out.end_weights = std::move(aligned.end);
  return out;
}

Translator::Lines Translator::segment_lines(const Tokenizer& tokenizer, const std::vector<std::string>& texts) const {
  Lines lines;
  for (const auto& text : texts) {
    lines.segmentations.push_back(tokenizer.segment(languages_.prepared(text)));
    lines.ids.push_back(lines.segmentations.back().ids);
  }
  return lines;
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines, const TranslateOptions& options) {
  const Lines sources = segment_lines(*languages_.source, lines);
  const IdPairs pairs{sources.ids, {}};
  const int64_t by_device = device_.is_cuda() ? kBatchTokensOnGpu : kBatchTokens;
  const int64_t tokens = options.batch_tokens > 0 ? options.batch_tokens : by_device;
  std::vector<Translation> all(lines.size());
  for (const auto& group : groups_of(pairs, tokens)) {
    const PairBatch batch = collate(pairs, group).to(device_);
    const auto found = search(*model_, batch.source, batch.source_keep, options.search);
    for (size_t k = 0; k < group.size(); ++k) {
      const Hypothesis& best = found[k].front();
      const auto row = static_cast<size_t>(group[k]);
      all[row] = worded(sources.segmentations[row], languages_.target->segment(best.tokens), best.weights, row);
      all[row].log_probability = best.log_probability;
      all[row].score = best.score;
      all[row].ended = best.ended;
    }
  }
  return all;
}

std::vector<Translation> Translator::score(const std::vector<std::string>& sources,
                                           const std::vector<std::string>& targets, int64_t batch_tokens,
                                           bool weights) {
  check(sources.size() == targets.size(), "translate: ", sources.size(), " sources and ", targets.size(),
        " targets; expected one target for each source");
  const at::NoGradGuard no_grad;
  const Lines from = segment_lines(*languages_.source, sources), to = segment_lines(*languages_.target, targets);
  const IdPairs pairs{from.ids, to.ids};
  Call call;
  call.outputs.weights = weights && model_->aligns();
  std::vector<Translation> all(sources.size());
  for (const auto& group : groups_of(pairs, batch_tokens > 0 ? batch_tokens : kBatchTokens)) {
    const PairBatch batch = collate(pairs, group).to(device_);
    const Predicted predicted = model_->predict(batch, call);
    const auto sums = predicted.log_probabilities(batch.source.size(0)).cpu();  // [B]
    Tensor aligned;                                                             // [B, T, S]
    if (call.outputs.weights)
      aligned = model_->alignment(predicted.output.steps).to(at::kCPU, at::kDouble).contiguous();
    for (size_t k = 0; k < group.size(); ++k) {
      const auto row = static_cast<size_t>(group[k]);
      const auto b = static_cast<int64_t>(k), steps = static_cast<int64_t>(pairs.target[row].size()) + 1;
      all[row] = worded(from.segmentations[row], to.segmentations[row],
                        aligned.defined() ? rows_of(aligned[b].narrow(0, 0, steps)) : WeightRows{}, row);
      all[row].log_probability = sums[b].item<double>();
    }
  }
  return all;
}

}  // namespace heed
