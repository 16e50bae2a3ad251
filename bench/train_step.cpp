// bench_train_step [--full] [--json <file>] [--only recurrent|transformer]: one training step of a translation model on
// two threads: forward, cross entropy, backward, gradient clipping, Adam. The models are a recurrent one (Bahdanau et
// al., 2015), with fused and with composed attention, and a Transformer of the sizes of recipes/multi30k-transformer.
// After each the shares of groups of operators. The report is written as JSON to the given file, by default to the
// build folder. peers_train_step.py has the same steps in PyTorch.
//
// Sentences have the lengths of image captions, are sorted by length and split into batches of 64; tokens are random. A
// round is a step on each of four batches, from short to long. Words per second are target tokens per second.
//
// The share of attention is that of its calls alone, as the decoder makes them: the keys of a batch are prepared once
// and attended by one query per target position, one call each, with gradients of queries, source and parameters. That
// has two parts: products with W_q and W_k, forward and backward, which are also timed separately ("its products"); and
// the rest: scores, weights and contexts with their gradients, and all overhead. The bar applies to the rest, since any
// model of these sizes has the products.

#include <iostream>

#include "bench/report.h"
#include "bench/resident.h"
#include "bench/shares.h"
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/embedding.h>
#include <torch/utils.h>

#include "heed/backend/flat_step.h"
#include "heed/backend/linear_cross_entropy.h"
#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/decode/transformer_decoder.h"
#include "heed/structures/encode/collected_sum.h"
#include "heed/structures/encode/transformer_encoder.h"
#include "heed/torch_support/freed_memory.h"
#include "heed/torch_support/noise_scope.h"
#include "heed/train/flat_parameters.h"

namespace heed::bench {
namespace {

constexpr int64_t kVocabulary = 8000, kEmbedding = 256, kSource = 512, kState = 512, kHidden = 256, kOut = 256;
constexpr int64_t kBatch = 64, kBatches = 16, kPad = 0;
constexpr int kThreads = 2;

// ---- batches -------------------------------------------------------------------------------------------------------

/// A random generator, the same as in peers_train_step.py.
class Draws {
 public:
  int64_t below(int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>(state_ >> 33) % n;
  }

 private:
  uint64_t state_ = 1;
};

struct Batch {
  Tensor source, target;  // int64 [B, L], [B, T]

  int64_t tokens() const { return target.ne(kPad).sum().item<int64_t>(); }
  /// The token before each target; token 1 before the first.
  Tensor before() const {
    const auto first = at::ones({target.size(0), 1}, target.options());
    return at::cat({first, target.narrow(1, 0, target.size(1) - 1)}, 1).masked_fill(target.eq(kPad), kPad);
  }
};

Tensor tokens_of(Draws& draws, const std::vector<int64_t>& lengths) {
  const int64_t max = *std::max_element(lengths.begin(), lengths.end());
  auto rows = at::full({static_cast<int64_t>(lengths.size()), max}, kPad, at::kLong);
  for (size_t i = 0; i < lengths.size(); ++i)
    for (int64_t j = 0; j < lengths[i]; ++j)
      rows.data_ptr<int64_t>()[static_cast<int64_t>(i) * max + j] = 1 + draws.below(kVocabulary - 1);
  return rows;
}

std::vector<Batch> batches() {
  Draws draws;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < kBatch * kBatches; ++i) {
    int64_t source = 4;
    for (int k = 0; k < 4; ++k) source += draws.below(6);
    pairs.emplace_back(source, std::max<int64_t>(3, source + draws.below(5) - 2));
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<Batch> all;
  for (size_t first = 0; first < pairs.size(); first += kBatch) {
    std::vector<int64_t> sources, targets;
    for (size_t i = first; i < first + kBatch; ++i) {
      sources.push_back(pairs[i].first);
      targets.push_back(pairs[i].second);
    }
    const auto source = tokens_of(draws, sources);
    all.push_back({source, tokens_of(draws, targets)});
  }
  return all;
}

// ---- the models -----------------------------------------------------------------------------------------------------

DecoderOptions decoder_options() {
  DecoderOptions o;
  o.embedding_dim = kEmbedding;
  o.state_dim = kState;
  o.source_dim = kSource;
  o.out_dim = kOut;
  o.start_dim = kSource / 2;
  o.hidden_dim = kHidden;
  return o;
}

/// The sum of the loss over the tokens that are not padding; outputs [B, T, D].
Tensor loss_of(const Tensor& outputs, const Batch& batch, const Tensor& weight, const Tensor& bias, double smoothing) {
  const auto real = batch.target.ne(kPad).flatten().nonzero().squeeze(1);
  return linear_cross_entropy(outputs.flatten(0, 1).index_select(0, real), weight, bias,
                              batch.target.flatten().index_select(0, real), {.smoothing = smoothing, .consume = true});
}

struct TranslatorImpl : torch::nn::Module {
  torch::nn::Embedding from_source{register_module("from_source", torch::nn::Embedding(kVocabulary, kEmbedding))};
  torch::nn::Embedding from_target{register_module("from_target", torch::nn::Embedding(kVocabulary, kEmbedding))};
  Recurrent encoder{register_module("encoder", Recurrent(RecurrentOptions{.in_dim = kEmbedding, .out_dim = kSource}))};
  BahdanauDecoder decoder{register_module("decoder", BahdanauDecoder(decoder_options()))};
  torch::nn::Linear output{register_module("output", torch::nn::Linear(kOut, kVocabulary))};

  Tensor loss(const Batch& batch, const Call& call) {
    const Features source{from_source(batch.source), batch.source.ne(kPad)};
    const Features targets{from_target(batch.before()), batch.target.ne(kPad)};
    const auto encoded = encoder->encode(source);
    const auto first = encoded.last.narrow(1, kSource / 2, kSource / 2);  // the backward state at the first token
    const auto decoded = decoder->forward(targets, encoded.features, call, first);
    return loss_of(decoded.features.rows, batch, output->weight, output->bias, 0);
  }
};
TORCH_MODULE(Translator);

TransformerOptions transformer_options() {
  TransformerOptions o;
  o.dim = kEmbedding;
  o.num_heads = 4;
  o.num_layers = 3;
  o.feed_forward_dim = 512;
  o.dropout = 0.3;
  o.attention_dropout = 0;
  return o;
}

/// One table of embeddings for source, target and output.
struct TransformerTranslatorImpl : torch::nn::Module {
  torch::nn::Embedding embedding{register_module("embedding", torch::nn::Embedding(kVocabulary, kEmbedding))};
  TransformerEncoder encoder{register_module("encoder", TransformerEncoder(transformer_options()))};
  TransformerDecoder decoder{register_module("decoder", TransformerDecoder(transformer_options()))};
  Tensor bias = register_parameter("bias", at::zeros({kVocabulary}));
  Tensor positions = at::randn({64, kEmbedding});

  Tensor loss(const Batch& batch, const Call& call) {
    const auto embedded = [&](const Tensor& ids) { return embedding(ids) * 16 + positions.narrow(0, 0, ids.size(1)); };
    const Features source{embedded(batch.source), batch.source.ne(kPad), /*real_first=*/true};
    const Features targets{embedded(batch.before()), batch.target.ne(kPad), /*real_first=*/true};
    const auto decoded = decoder->forward(targets, encoder->forward(source, call), call);
    return loss_of(decoded.rows, batch, embedding->weight, bias, 0.1);
  }
};
TORCH_MODULE(TransformerTranslator);

/// The step of heed train: parameters in one tensor; clipping and Adam in two passes over it.
template <typename Model>
class Training {
 public:
  explicit Training(Path path) { call_.path = path; }

  void step(const Batch& batch) {
    flat_.zero_gradients();
    const NoiseScope noise(1, static_cast<uint64_t>(++steps_));
    const auto loss = model_->loss(batch, call_);
    loss.backward();
    const auto numbers =
        flat_numbers(update_, 1 / static_cast<double>(batch.tokens()), 3e-4, steps_, /*average_weight=*/0);
    FlatTensors tensors{.values = flat_.values(),
                        .grads = flat_.grads(),
                        .parts = flat_.gradients_of_parts(),
                        .loss = loss.detach().to(at::kDouble).view(1),
                        .numbers = at::tensor(at::ArrayRef<double>(numbers), at::kDouble),
                        .stats = at::zeros({3}, at::kDouble)};
    flat_step(update_, tensors, /*clip_norm=*/1.0);
    loss_ = tensors.stats[0].template item<double>();
  }
  double loss() const { return loss_; }

 private:
  Model model_ = (torch::manual_seed(1), Model());
  FlatParameters flat_{*model_};
  FlatUpdate update_{.rule = FlatUpdate::Rule::adam,
                     .beta1 = 0.9,
                     .beta2 = 0.999,
                     .epsilon = 1e-8,
                     .first = at::zeros_like(flat_.values()),
                     .second = at::zeros_like(flat_.values())};
  Call call_;
  int64_t steps_ = 0;
  double loss_ = 0;
};

// ---- attention alone -----------------------------------------------------------------------------------------------

/// The attention calls of one batch, forward and backward.
class AttentionCalls {
 public:
  AttentionCalls(const Batch& batch, Path path) {
    call_.path = path;
    mask_.keep = batch.source.ne(kPad).unsqueeze(1);
    source_ = at::randn({kBatch, batch.source.size(1), kSource}).requires_grad_();
    for (int64_t t = 0; t < batch.target.size(1); ++t) {
      queries_.push_back(at::randn({kBatch, 1, kState}).requires_grad_());
      upstreams_.push_back(at::randn({kBatch, 1, kSource}));
    }
  }
  void run() {
    auto memory = attention_->prepare(source_, source_, mask_);
    const CollectedSum keys(memory.keys.rows()), values(memory.values.rows());
    std::vector<Tensor> contexts;
    for (const auto& query : queries_) {
      memory.keys = Growing(keys.for_step());
      memory.values = Growing(values.for_step());
      contexts.push_back(attention_->forward(query, memory, call_).context);
    }
    grads(contexts, upstreams_);
  }
  /// Only W_q q and W_k k.
  void run_products() {
    const auto p = attention_->named();
    std::vector<Tensor> made, upstreams;
    for (const auto& query : queries_) {
      made.push_back(at::linear(query, p["score.from_query"], p["score.bias"]));
      upstreams.push_back(at::ones_like(made.back()));
    }
    made.push_back(at::linear(source_, p["score.from_keys"]));
    upstreams.push_back(at::ones_like(made.back()));
    grads(made, upstreams);
  }

 private:
  void grads(const std::vector<Tensor>& outputs, const std::vector<Tensor>& upstreams) {
    auto of = attention_->parameters();
    of.insert(of.end(), queries_.begin(), queries_.end());
    of.push_back(source_);
    torch::autograd::grad(outputs, of, upstreams, /*retain_graph=*/false, /*create_graph=*/false,
                          /*allow_unused=*/true);
  }

  Call call_;
  Mask mask_;
  Attention attention_{AttentionOptions{.query_dim = kState,
                                        .key_dim = kSource,
                                        .value_dim = kSource,
                                        .hidden_dim = kHidden,
                                        .mechanism = Mechanism::parse("additive + softmax")}};
  Tensor source_;
  std::vector<Tensor> queries_, upstreams_;
};

// ---- timing --------------------------------------------------------------------------------------------------------

/// (attention - its products) / a step. Each time is the minimum of its own rounds, and only then subtracted: the
/// minimum of the differences would be that of the round in which the products were disturbed most.
Figure share_of_rest(const Race& race) {
  const auto of = [&](const auto& time) {
    return 100 * (time(race.at("attention of heed")) - time(race.at("its products"))) / time(race.at("heed"));
  };
  Figure f{"share of attention", 100, {}, {}, "%", 3, false};
  f.value = of([](const Baseline& c) { return c.min(); });
  f.middle = of([](const Baseline& c) { return median(c.ran()); });
  f.noise = std::abs(of([](const Baseline& c) { return c.min(0); }) - of([](const Baseline& c) { return c.min(1); })) /
            f.value;
  return f;
}

std::vector<Batch> some_batches() {
  const auto all = batches();
  std::vector<Batch> some;
  for (size_t i = 1; i < all.size(); i += 4) some.push_back(all[i]);
  return some;
}

int64_t tokens_of(const std::vector<Batch>& some) {
  int64_t tokens = 0;
  for (const auto& batch : some) tokens += batch.tokens();
  return tokens;
}

template <typename Model>
void print_shares(const std::string& title, Training<Model>& training, const std::vector<Batch>& some) {
  Shares shares;
  for (int round = 0; round < 3; ++round)
    for (const auto& batch : some) shares.add([&] { training.step(batch); });
  shares.print(title, 3.0 * static_cast<double>(some.size()));
}

Race run_transformer(bool full) {
  const auto some = some_batches();
  const int64_t tokens = tokens_of(some);
  Race race("train_step_transformer",
            "a training step of a Transformer, 3 + 3 layers, 256 wide, 4 heads, 8000 words, " +
                std::to_string(some.size()) + " batches of 64 sentences, " + std::to_string(tokens) +
                " words, float, " + std::to_string(kThreads) + " threads");
  race.running_on = kernels::cpu::instruction_set();
  Training<TransformerTranslator> training(Path::fastest);
  race.add("heed", [&] {
    for (const auto& batch : some) training.step(batch);
  });
  race.run({.rounds = full ? 21 : 7, .slow_rounds = full ? 21 : 7});
  race.add(Figure{"words per second", static_cast<double>(tokens), {}, {"heed"}, "words/s"});
  race.add(Figure{"a step", 1e3 / static_cast<double>(some.size()), {"heed"}, {}, "ms"});
  race.note = "loss: " + number(training.loss());
  for (auto& baseline : race.baselines) baseline.run = {};
  race.print();
  print_shares("shares of a step of the Transformer", training, some);
  return race;
}

Race run_recurrent(bool full) {
  const auto some = some_batches();
  const int64_t tokens = tokens_of(some);
  const auto steps = static_cast<double>(some.size());
  Race race("train_step", "a training step, additive + softmax, embedding 256, encoder 512, state 512, 8000 words, " +
                              std::to_string(some.size()) + " batches of 64 sentences, " + std::to_string(tokens) +
                              " words, float, " + std::to_string(kThreads) + " threads");
  race.running_on = kernels::cpu::instruction_set();
  const std::vector<std::pair<std::string, Path>> paths{{"heed", Path::fastest}, {"composed", Path::composed}};
  std::vector<std::unique_ptr<Training<Translator>>> trainings;
  std::vector<std::vector<AttentionCalls>> calls_of_path;
  for (const auto& [name, path] : paths) {
    trainings.push_back(std::make_unique<Training<Translator>>(path));
    auto* const training = trainings.back().get();
    race.add(name, [training, &some] {
      for (const auto& batch : some) training->step(batch);
    });
  }
  for (const auto& [name, path] : paths) {
    std::vector<AttentionCalls> calls;
    for (const auto& batch : some) calls.emplace_back(batch, path);
    calls_of_path.push_back(std::move(calls));
    race.add("attention of " + name, [&calls_of_path, i = calls_of_path.size() - 1] {
      for (auto& call : calls_of_path[i]) call.run();
    });
  }
  race.add("its products", [&calls_of_path] {
    for (auto& call : calls_of_path[0]) call.run_products();
  });
  race.run({.rounds = full ? 21 : 7, .slow_rounds = full ? 21 : 7});
  race.add(Figure{"words per second", static_cast<double>(tokens), {}, {"heed"}, "words/s"});
  race.add(Figure{"a step", 1e3 / steps, {"heed"}, {}, "ms"});
  race.add(Figure{"heed, times composed", 1, {"composed"}, {"heed"}, "x", 1.1});
  race.add(Figure{"share of attention with its products", 100, {"attention of heed"}, {"heed"}, "%"});
  race.add(Figure{"share of its products", 100, {"its products"}, {"heed"}, "%"});
  race.figures.push_back(share_of_rest(race));
  race.add(Figure{"share of composed attention", 100, {"attention of composed"}, {"composed"}, "%"});
  race.note = "losses: " + number(trainings[0]->loss()) + " (heed), " + number(trainings[1]->loss()) + " (composed)";
  for (auto& baseline : race.baselines) baseline.run = {};
  race.print();
  print_shares("shares of a step of the recurrent model", *trainings[0], some);
  return race;
}

int main_of(const std::vector<std::string>& tokens) {
  const auto cores = one_of_each_core();
  check(!cores.empty(), "bench: cannot read the CPU affinity");
  use_threads(kThreads);
  keep_freed_memory();
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_train_step.json";
  bool full = false;
  std::string only;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "--full")
      full = true;
    else if (tokens[i] == "--json" && i + 1 < tokens.size())
      json = tokens[++i];
    else if (tokens[i] == "--only" && i + 1 < tokens.size() &&
             (tokens[i + 1] == "recurrent" || tokens[i + 1] == "transformer"))
      only = tokens[++i];
    else
      fail("bench: got '", tokens[i], "', expected --full, --json <file> or --only recurrent or transformer");
  }
  const auto machine = Machine::measure(cores);
  machine.print();
  std::vector<Race> races;
  if (only != "transformer") races.push_back(run_recurrent(full));
  if (only != "recurrent") races.push_back(run_transformer(full));
  write_json(json, machine, races, {}, {});
  std::printf("\nThe report is in %s\n", json.c_str());
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_train_step: " << error.what() << '\n';
    return 1;
  }
}
