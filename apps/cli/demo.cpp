#include "apps/cli/demo.h"

#include <array>
#include <cmath>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include "heed/attention/attention.h"
#include "heed/attention/reinforce.h"
#include "heed/bridge/threads.h"

namespace heed::cli {
namespace {

constexpr int64_t kWidth = 16, kBatch = 64, kShortest = 3, kLongest = 6;
constexpr double kRate = 0.03;

struct Word {
  const char *source, *target;
};
constexpr std::array kWords{Word{"Tom", "汤姆"},  Word{"Jerry", "杰瑞"}, Word{"chases", "追逐"}, Word{"eats", "吃"},
                            Word{"sees", "看见"}, Word{"cat", "猫"},     Word{"mouse", "老鼠"},  Word{"cheese", "奶酪"},
                            Word{"big", "大"},    Word{"small", "小"},   Word{"here", "在这里"}, Word{"today", "今天"}};
constexpr auto kVocabulary = static_cast<int64_t>(kWords.size());

/// A pair of sentences, by numbers of words.
struct Pair {
  std::vector<int64_t> source, target;
};
const std::array kShown{Pair{{0, 2, 1}, {0, 2, 1}},                         // Tom chases Jerry
                        Pair{{1, 3, 8, 7, 10, 11}, {1, 11, 10, 3, 8, 7}}};  // Jerry eats big cheese here today

struct Batch {
  Tensor source, target;  // [B, Lk], [B, Lq]: numbers of words
  Tensor key_count;       // [B]
  Tensor real;            // bool [B, Lq]: not padding
};

Batch random_batch(int64_t rows) {
  const auto source =
      at::rand({rows, kVocabulary}).argsort(/*stable=*/true, 1).narrow(1, 0, kLongest);  // no word twice
  const auto length = at::randint(kShortest, kLongest + 1, {rows}, at::kLong);
  const auto real = at::arange(kLongest).unsqueeze(0) < length.unsqueeze(1);
  const auto order =
      (at::rand({rows, kLongest}) + real.logical_not()).argsort(/*stable=*/true, 1);  // padding stays behind
  return {source, source.gather(1, order), length, real};
}

Batch batch_of(const Pair& pair) {
  const auto source = at::tensor(pair.source, at::kLong).unsqueeze(0),
             target = at::tensor(pair.target, at::kLong).unsqueeze(0);
  return {source, target, at::tensor({source.size(1)}, at::kLong), at::ones_like(target, at::kBool)};
}

/// Each target word in a batch row of its own, so that it is rewarded for its own choice.
Batch word_by_word(const Batch& batch) {
  const auto real = batch.real.flatten().nonzero().squeeze(1);
  const int64_t Lq = batch.target.size(1);
  const auto target = batch.target.flatten().index_select(0, real).unsqueeze(1);
  return {batch.source.repeat_interleave(Lq, 0).index_select(0, real), target,
          batch.key_count.repeat_interleave(Lq, 0).index_select(0, real), at::ones_like(target, at::kBool)};
}

class Translator {
 public:
  explicit Translator(const Mechanism& mechanism)
      : attention_(AttentionOptions{
            .query = kWidth, .keys = kWidth, .values = kWidth, .hidden = kWidth, .mechanism = mechanism}),
        source_((at::randn({kVocabulary, kWidth}) * 0.5).requires_grad_()),
        target_((at::randn({kVocabulary, kWidth}) * 0.5).requires_grad_()),
        meanings_(std::get<0>(at::linalg_qr(at::randn({kWidth, kWidth}))).narrow(0, 0, kVocabulary)) {}

  Attended attend(const Batch& batch, const Want& want) {
    Call call;
    call.mask.key_count = batch.key_count;
    call.want = want;
    return attention_->forward(query(batch), keys(batch), at::embedding(meanings_, batch.source), call);
  }

  /// The scores before any alignment: the weights of the identity, averaged over channels. [B, Lq, Lk]
  Tensor scores(const Batch& batch) const {
    const auto& parts = mechanism().parts();
    const auto plain = Mechanism::parse(parts.score.words() + " + identity, " + words(mechanism().dimensionality()));
    Parameters own;
    for (const auto& [name, tensor] : attention_->named())
      if (name.rfind("score.", 0) == 0) own.set(name, tensor);
    Call call;
    call.want.weights = true;
    return over_channels(
        heed::attend(query(batch), keys(batch), at::embedding(meanings_, batch.source), plain, own, call).weights);
  }

  Tensor over_channels(const Tensor& weights) const {
    return mechanism().dimensionality() == Dimensionality::single ? weights : weights.mean(-1);
  }

  /// |context - meaning|^2 of each target word, 0 where there is none. [B, Lq]
  Tensor errors(const Batch& batch, const Tensor& context) const {
    return (context - at::embedding(meanings_, batch.target)).square().sum(-1) * batch.real;
  }

  /// The word whose meaning is nearest in direction to each context, -1 where the context is 0. [B, Lq]
  Tensor nearest_words(const Tensor& context) const {
    return at::matmul(context, meanings_.t()).argmax(-1).masked_fill(context.abs().amax(-1) == 0, -1);
  }

  std::vector<Tensor> trained() const {
    auto all = attention_->parameters();
    all.insert(all.end(), {source_, target_});
    return all;
  }
  const Mechanism& mechanism() const { return attention_->options().mechanism; }
  void train(bool on) { attention_->train(on); }

 private:
  Tensor query(const Batch& batch) const { return at::embedding(target_, batch.target); }
  Tensor keys(const Batch& batch) const { return at::embedding(source_, batch.source); }

  Attention attention_;
  Tensor source_, target_;  // embeddings, [words, width]
  Tensor meanings_;         // [words, width], orthonormal
};

/// Tensors this small are fastest on one thread, and their sums then do not depend on how many there are.
class OneThread {
 public:
  OneThread() { use_threads(1); }
  ~OneThread() { use_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_ = at::get_num_threads();
};

struct Learned {
  double first = 0, last = 0;  // loss
};

/// By backpropagation; where an alignment draws its choice, by reward as well.
Learned learn(Translator& model, int64_t steps) {
  const bool by_reward = model.mechanism().align().offers().log_probability;
  Reinforce reinforce({.entropy_weight = 0.01});
  torch::optim::Adam adam(model.trained(), torch::optim::AdamOptions(kRate));
  Learned learned;
  model.train(true);
  for (int64_t step = 0; step < steps; ++step) {
    const auto batch = by_reward ? word_by_word(random_batch(kBatch)) : random_batch(kBatch);
    Want want;
    want.entropy = by_reward;
    const auto attended = model.attend(batch, want);
    const auto errors = model.errors(batch, attended.context);
    auto loss = errors.sum() / batch.real.sum();
    (step == 0 ? learned.first : learned.last) = loss.item<double>();
    check(std::isfinite(loss.item<double>()), "demo: the error of ", model.mechanism().words(),
          " is not a number at step ", step + 1, "; another --seed may learn");
    if (by_reward) loss = loss + reinforce.loss(attended, -errors.sum(1));
    adam.zero_grad();
    if (loss.requires_grad()) loss.backward();  // nothing to learn: uniform
    adam.step();
  }
  model.train(false);
  return learned;
}

std::vector<std::vector<double>> table_of(const Tensor& x) {
  std::vector<std::vector<double>> rows;
  const auto values = x.to(at::kDouble).contiguous();
  for (int64_t i = 0; i < values.size(0); ++i) {
    const double* row = values.data_ptr<double>() + i * values.size(1);
    rows.emplace_back(row, row + values.size(1));
  }
  return rows;
}

std::string sentence(const std::vector<std::string>& words) {
  return joined(words, " ");
}

/// Scores, weights and the words found of one pair; returns how many were right.
int64_t show(std::ostream& out, Translator& model, const Pair& pair, Colours colours) {
  const auto batch = batch_of(pair);
  Grid grid;
  for (const int64_t word : pair.source) grid.columns.push_back(kWords[static_cast<size_t>(word)].source);
  for (const int64_t word : pair.target) grid.rows.push_back(kWords[static_cast<size_t>(word)].target);
  out << '\n' << sentence(grid.columns) << "  /  " << sentence(grid.rows) << "\n\n";

  grid.title = "scores";
  grid.cells = table_of(model.scores(batch)[0]);
  print_numbers(out, grid);

  Want want;
  want.weights = true;
  const auto attended = model.attend(batch, want);
  grid.title = "weights";
  grid.last = "found";
  grid.cells = table_of(model.over_channels(attended.weights)[0]);
  const auto found = model.nearest_words(attended.context)[0];
  int64_t right = 0;
  for (size_t i = 0; i < pair.target.size(); ++i) {
    const auto word = found[static_cast<int64_t>(i)].item<int64_t>();
    const bool same = word == pair.target[i];
    right += same;
    grid.notes.push_back((word < 0 ? std::string("nothing") : kWords[static_cast<size_t>(word)].source) +
                         (same ? "" : "  (wrong)"));
  }
  out << '\n';
  print_heat(out, grid, colours);

  constexpr int64_t kNumbers = 6;  // of kWidth
  grid.title = "context";
  grid.last.clear();
  grid.notes.clear();
  grid.columns.clear();
  for (int64_t i = 0; i < kNumbers; ++i) grid.columns.push_back("c" + std::to_string(i + 1));
  grid.cells = table_of(attended.context[0].narrow(1, 0, kNumbers));
  out << '\n';
  print_numbers(out, grid);
  return right;
}

/// The plan, one path a line.
std::string path_of(const Plan& plan) {
  std::string text = "Path " + plan.words() + ".";
  const std::string next = "; not ";
  for (size_t at = 0; (at = text.find(next, at)) != std::string::npos;) text.replace(at, 2, "\n     ");
  return text;
}

/// Why it cannot learn this task, as far as its parts say.
std::string excuse(const Mechanism& mechanism) {
  if (mechanism.score().own_queries() > 0)
    return "Its query is learned once for all words, so no word can ask for its own source.";
  if (mechanism.score().positional()) return "Its scores look at places, and here the words come in any order.";
  return "It cannot tell the words apart well enough on this task.";
}

void report(std::ostream& out, Translator& model, int64_t shown_right, int64_t shown_words) {
  constexpr int64_t kRows = 200;
  const auto batch = random_batch(kRows);
  const auto right = (model.nearest_words(model.attend(batch, {}).context) == batch.target)
                         .logical_and(batch.real)
                         .sum()
                         .item<int64_t>();
  const auto words = batch.real.sum().item<int64_t>();
  const auto percent = [&](int64_t some) {
    return fixed(100.0 * static_cast<double>(some) / static_cast<double>(words), 0) + " %";
  };
  out << '\n'
      << shown_right << " of " << shown_words << " words found above, " << right << " of " << words << " ("
      << percent(right) << ") in " << kRows << " new sentences; picking any word of the sentence would find "
      << percent(kRows) << ".\n";
  if (right * 2 < words) out << excuse(model.mechanism()) << '\n';
}

}  // namespace

void run_demo(std::ostream& out, const DemoOptions& options) {
  const auto mechanism = Mechanism::parse(options.mechanism);
  check(options.steps >= 1, "demo: steps is ", options.steps, ", expected at least 1");
  check(mechanism.score().own_queries() <= 1, "demo: ", mechanism.words(), " makes ", mechanism.score().own_queries(),
        " contexts of its own, expected one for each word; leave queries at 1");
  const OneThread one_thread;
  torch::manual_seed(options.seed);
  Translator model(mechanism);
  out << mechanism.words() << '\n' << mechanism.formula() << "\n\n";
  out << "Learning " << kVocabulary << " word pairs from random sentences of " << kShortest << " to " << kLongest
      << " words ...\n"
      << std::flush;
  const auto learned = learn(model, options.steps);
  out << options.steps << " steps of " << kBatch << " sentences: error " << fixed(learned.first, 3) << " -> "
      << fixed(learned.last, 3) << '\n';

  const at::NoGradGuard no_grad;
  int64_t right = 0, words = 0;
  for (const auto& pair : kShown) {
    right += show(out, model, pair, options.colours);
    words += static_cast<int64_t>(pair.target.size());
  }
  if (mechanism.dimensionality() != Dimensionality::single)
    out << "\nScores and weights are shown as means over " << kWidth << " channels.\n";
  report(out, model, right, words);
  out << path_of(model.attend(batch_of(kShown[1]), {}).plan) << '\n';
}

}  // namespace heed::cli
