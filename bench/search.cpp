// bench_search [--device cpu|cuda] [--steps <n>] [--rounds <n>] [--sentences <n>,<n>...] [--only <words>] [--json
// <file>]: greedy and beam search of a translator of the sizes of recipes/multi30k-transformer.yaml and
// recipes/multi30k-recurrent.yaml.
//
// Weights are random and no translation ends, so every sentence takes the same number of steps, as in peers_decode.py,
// which has the same search in PyTorch. Sources have the lengths of image captions. Reading the source is included, one
// batch at a time. Tokens per second are target tokens of the best translation. On a CPU it runs on torch's threads.

#include "heed/models/translate/search.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

#include "bench/race.h"
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/cuda.h>
#include <torch/utils.h>

#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"

namespace heed::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVocabulary = 9700;
constexpr int64_t kLengths = 16, kShortest = 6;  // sources have 6 to 21 tokens

const std::vector<std::pair<std::string, std::string>> kModels{{"transformer", R"(
model:
  embedding: {dim: 256, dropout: 0, shared: true}
  features: {kind: transformer, num_layers: 3, num_heads: 4, feed_forward_dim: 512}
  query: {kind: transformer, num_layers: 3, num_heads: 4, feed_forward_dim: 512}
  output: {kind: softmax, tied: true}
)"},
                                                               {"recurrent", R"(
model:
  embedding: {dim: 256, dropout: 0}
  features: {kind: recurrent, dim: 512}
  query: {kind: bahdanau, state_dim: 512, out_dim: 512}
  attention: additive + softmax
  output: {kind: softmax, tied: true}
)"}};

struct Arguments {
  std::string device = "cpu", json{}, only{};
  int64_t steps = 20;
  int rounds = 5;
  std::vector<int64_t> sentences{64, 1000};
};

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> all;
  for (size_t first = 0; first <= text.size();) {
    const size_t comma = std::min(text.find(',', first), text.size());
    all.push_back(std::stoll(text.substr(first, comma - first)));
    check(all.back() > 0, "bench: got ", all.back(), " sentences, expected more than 0");
    first = comma + 1;
  }
  return all;
}

Arguments read(const std::vector<std::string>& given) {
  Arguments a;
  for (size_t i = 0; i + 1 < given.size(); i += 2) {
    const std::string &name = given[i], &value = given[i + 1];
    if (name == "--device")
      a.device = value;
    else if (name == "--json")
      a.json = value;
    else if (name == "--only")
      a.only = value;
    else if (name == "--steps")
      a.steps = std::stoll(value);
    else if (name == "--rounds")
      a.rounds = std::stoi(value);
    else if (name == "--sentences")
      a.sentences = numbers_of(value);
    else
      fail("bench: got '", name, "', expected --device, --steps, --rounds, --sentences, --only or --json");
  }
  check(given.size() % 2 == 0, "bench: got '", given.back(), "' without a value");
  check(a.device == "cpu" || a.device == "cuda", "bench: device is '", a.device, "', expected cpu or cuda");
  check(a.device == "cpu" || torch::cuda::is_available(), "bench: --device cuda, but torch finds no GPU here");
  check(a.steps > 0 && a.rounds > 0, "bench: got ", a.steps, " steps and ", a.rounds, " rounds, expected more than 0");
  return a;
}

/// Random weights; the end marker is never the best token.
std::shared_ptr<TranslationModel> model_of(const std::string& recipe, at::Device device) {
  torch::manual_seed(1);
  auto model = std::make_shared<TranslationModel>(parse_recipe(recipe, "bench").at("model"),
                                                  Vocabularies{kVocabulary, kVocabulary, true});
  for (auto& item : model->named_parameters())
    if (item.key() == "output.bias") item.value()[Tokenizer::kEnd] = -1e4;
  model->to(device);
  model->eval();
  return model;
}

/// Token ids [sentences, 21]; padding is 0. Sentence i has 6 + i mod 16 tokens.
Tensor sources(int64_t sentences) {
  const int64_t longest = kShortest + kLengths - 1;
  const auto lengths = kShortest + at::arange(sentences).remainder(kLengths).unsqueeze(1);
  const auto ids = at::randint(Tokenizer::kEnd + 1, kVocabulary, {sentences, longest}, at::kLong);
  return ids.masked_fill(at::arange(longest).unsqueeze(0) >= lengths, Tokenizer::kPad);
}

Json measured(TranslationModel& model, const Tensor& source, int64_t beam, const Arguments& a) {
  const SearchOptions options{.beam = beam, .longest = 0, .longest_add = static_cast<double>(a.steps)};
  const auto keep = source != Tokenizer::kPad;
  std::vector<double> times;
  for (int round = -1; round < a.rounds; ++round) {
    std::vector<std::vector<Hypothesis>> found;
    const double took = seconds([&] { found = search(model, source, keep, options); });  // ends with a copy to the host
    for (const auto& row : found)
      check(static_cast<int64_t>(row.front().tokens.size()) == a.steps, "bench: got a translation of ",
            row.front().tokens.size(), " tokens, expected ", a.steps);
    if (round >= 0) times.push_back(took);
  }
  const auto tokens = static_cast<double>(source.size(0) * a.steps);
  return {{"tokens_per_second", tokens / median(times)},
          {"best_tokens_per_second", tokens / *std::min_element(times.begin(), times.end())},
          {"step_ms", 1e3 * median(times) / static_cast<double>(a.steps)},
          {"seconds", times}};
}

int main_of(const std::vector<std::string>& given) {
  const Arguments a = read(given);
  const at::NoGradGuard no_grad;
  const at::Device device(a.device);
  Json report{{"device", a.device}, {"threads", at::get_num_threads()}, {"steps", a.steps}, {"rows", Json::array()}};
  std::printf("%-12s %-8s %9s %14s %10s\n", "model", "search", "sentences", "tokens/s", "ms/step");
  for (const auto& [name, recipe] : kModels) {
    if (!a.only.empty() && name.find(a.only) == std::string::npos) continue;
    const auto model = model_of(recipe, device);
    for (const int64_t sentences : a.sentences)
      for (const int64_t beam : {1, 5}) {
        Json row{{"model", name}, {"search", beam == 1 ? "greedy" : "beam 5"}, {"sentences", sentences}};
        row.update(measured(*model, sources(sentences).to(device), beam, a));
        std::printf("%-12s %-8s %9d %14.0f %10.3f\n", name.c_str(), beam == 1 ? "greedy" : "beam 5",
                    static_cast<int>(sentences), row["tokens_per_second"].get<double>(), row["step_ms"].get<double>());
        std::fflush(stdout);
        report["rows"].push_back(row);
      }
  }
  if (!a.json.empty()) std::ofstream(a.json) << report.dump(2) << '\n';
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_search: " << error.what() << '\n';
    return 1;
  }
}
