// The classification task: its loss against the formula, shares of a batch, its score, runs that go on, and what it
// refuses.

#include <cmath>

#include <gtest/gtest.h>

#include "heed/models/classify/classifier.h"
#include "heed/models/classify/prediction_text.h"
#include "heed/train/testing_labels.h"

namespace heed::testing {
namespace {

/// A folder of examples.
class ExampleFolder : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path(name), std::ios::binary) << content;
  }
  /// The data of a recipe: these files, with the label in column 1 and the text in column 2.
  std::string data(const std::string& more = "", const std::string& train = "train.tsv",
                   const std::string& dev = "dev.tsv") const {
    return "data={root: " + folder_.path() + ", train: " + train + ", dev: " + dev + ", label: 1, " +
           (more.find("text:") == std::string::npos ? "text: 2" : "") + (more.empty() ? "" : ", ") + more + "}";
  }
  std::string refused(const std::vector<std::string>& overrides) const {
    return refusal([&] { labels_task(overrides); });
  }

  Folder folder_;
};

void expect_parts(const std::string& said, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in: " << said;
}

// ---- the loss ----

constexpr const char* kFourAndTwo = "b\tone\na\ttwo x\na\tthree x y\nb\tfour\na\tfive x\na\tsix\n";  // four a, two b

/// The loss of the only batch, with all parameters 0 except the bias of the output model.
Loss loss_of_biases(const std::vector<std::string>& overrides, const std::vector<float>& biases) {
  std::vector<std::string> all = overrides;
  all.insert(all.end(), {"train.batch_tokens=1000", "model.output.dropout=0"});
  const auto task = labels_task(all);
  EXPECT_EQ(task->batches(0), 1);
  const at::NoGradGuard no_grad;
  for (auto& parameter : task->model().parameters()) parameter.zero_();
  for (const auto& item : task->model().named_parameters())
    if (item.key().rfind("output.", 0) == 0 && item.key().ends_with("bias")) item.value().copy_(at::tensor(biases));
  return task->loss(Share{});
}

constexpr double kLossTolerance = 1e-5;  // float: a sum of six logarithms around 1, each rounded by 6e-8

// -log p of a and b are log(1 + e^-1) and 1 + log(1 + e^-1).
TEST_F(ExampleFolder, GivesTheCrossEntropyOfItsLabels) {
  write("train.tsv", kFourAndTwo);
  write("dev.tsv", kFourAndTwo);
  const double of_a = std::log1p(std::exp(-1)), of_b = 1 + of_a;
  const auto loss = [&](const std::vector<std::string>& overrides) {
    std::vector<std::string> all{data()};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Loss found = loss_of_biases(all, {0.5, -0.5});
    EXPECT_EQ(found.count, 6);
    return found.sum.item<double>();
  };
  EXPECT_NEAR(loss({}), 4 * of_a + 2 * of_b, kLossTolerance);
  EXPECT_NEAR(loss({"train.class_weights=[b=3]"}), 4 * of_a + 3 * 2 * of_b, 3 * kLossTolerance);
  // 6 examples, 2 classes: 6 / (2 * 4) for a and 6 / (2 * 2) for b, so that both weigh the same
  EXPECT_NEAR(loss({"train.class_weights=balanced"}), 0.75 * 4 * of_a + 1.5 * 2 * of_b, kLossTolerance);
  const auto smoothed = [&](double a, double b) {  // 1/4 of each label goes to both classes alike
    return 4 * a * 0.75 * of_a + 2 * b * 0.75 * of_b + 6 * 0.25 / 2 * (a * of_a + b * of_b);
  };
  EXPECT_NEAR(loss({"train.label_smoothing=0.25"}), smoothed(1, 1), kLossTolerance);
  EXPECT_NEAR(loss({"train.label_smoothing=0.25", "train.class_weights=[b=3]"}), smoothed(1, 3), 3 * kLossTolerance);
}

// Deviations of 0, 0, 0, 6 from their mean 1.5: variance 27 / 4. A prediction of 0 deviations is off by 1 on average.
TEST_F(ExampleFolder, GivesTheSquaredErrorOfNumbersInDeviations) {
  write("train.tsv", "0\ta\n0\tb\n0\tc\n6\td\n");
  write("dev.tsv", "0\ta\n");
  const Loss loss = loss_of_biases({data(), "model.output=regression"}, {0});
  EXPECT_EQ(loss.count, 4);
  EXPECT_NEAR(loss.sum.item<double>(), 4, kLossTolerance);
  const double off = loss_of_biases({data(), "model.output=regression"}, {1}).sum.item<double>();
  EXPECT_NEAR(off, 8, kLossTolerance);  // sum (y - 1)^2 = sum y^2 - 2 sum y + 4, y of mean 0
}

TEST_F(ExampleFolder, DoesNotDependOnTheScaleOfNumbers) {
  write("train.tsv", "0.25\ta b\n0.5\tb\n0.75\tc c\n0.125\td\n");
  write("dev.tsv", "0.5\ta\n");
  write("shifted.tsv", "250\ta b\n500\tb\n750\tc c\n125\td\n");  // exact: differences and quotients are the same
  write("shifted_dev.tsv", "500\ta\n");
  const auto task = labels_task({data(), "model.output=regression"}),
             shifted = labels_task({data("", "shifted.tsv", "shifted_dev.tsv"), "model.output=regression"});
  at::NoGradGuard no_grad;
  const auto from = task->model().parameters(), to = shifted->model().parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  EXPECT_NEAR(task->loss(Share{}).sum.item<double>(), shifted->loss(Share{}).sum.item<double>(), kLossTolerance);
  EXPECT_NEAR(1000 * std::sqrt(task->validate()[1].second), std::sqrt(shifted->validate()[1].second), 1e-2);
}

// sigmoid(0) = 1/2 for every class of every example.
TEST_F(ExampleFolder, GivesTheLossOfEveryClassOfSeveral) {
  write("train.tsv", "a,b\tone\n\ttwo\nc\tthree\n");
  write("dev.tsv", "c, a\tone\n");
  const Loss loss = loss_of_biases({data(), "model.output=sigmoid"}, {0, 0, 0});
  EXPECT_EQ(loss.count, 3);
  EXPECT_NEAR(loss.sum.item<double>(), 9 * std::log(2), kLossTolerance);
}

// Words beyond max_length have no piece; the other pieces of a word have no label.
TEST_F(ExampleFolder, CountsTheWordsThatWereRead) {
  write("train.tsv", "0 1 0\tabc abd x\n1\tabc\n");
  write("dev.tsv", "0 1\tabc x\n");
  const std::string characters = "tokenizer: characters, max_length: ";
  const auto words = [&](const std::string& max_length) {
    const Loss loss = loss_of_biases({data(characters + max_length), "model.output=token_softmax"}, {0, 0});
    EXPECT_NEAR(loss.sum.item<double>(), static_cast<double>(loss.count) * std::log(2), kLossTolerance);
    return loss.count;
  };
  EXPECT_EQ(words("0"), 4);
  EXPECT_EQ(words("3"), 2);
}

// The penalty of four queries with the same weights: ||A A^T - I||^2, and so many times more with a weight of 2.
TEST_F(ExampleFolder, AddsThePenaltyOfTheStructure) {
  write("train.tsv", kFourAndTwo);
  write("dev.tsv", kFourAndTwo);
  const auto loss = [&](const std::string& penalty) {
    return loss_of_biases(
               {data(), "model.attention={structure: self_attentive(structured)}", "train.penalty=" + penalty}, {0, 0})
        .sum.item<double>();
  };
  const double without = loss("0"), one = loss("1") - without;
  EXPECT_NEAR(without, 6 * std::log(2), kLossTolerance);
  // Texts of n words have weights 1/n: every entry of A A^T is 1/n. 3 x n = 1, 2 x n = 2, 1 x n = 3; (12 off, 4 on).
  const double expected = 3 * 12 + 2 * (12 / 4.0 + 4 / 4.0) + (12 / 9.0 + 4 * 4 / 9.0);
  EXPECT_NEAR(one, expected, 1e-4);
  EXPECT_NEAR(loss("2") - without, 2 * expected, 2e-4);
  expect_parts(refused({data(), "train.penalty=1"}), {"recipe: train.penalty is given", "has none", "structured"});
}

// ---- shares of a batch ----

TEST_F(ExampleFolder, SharesABatchAmongProcesses) {
  write("train.tsv", "a b,c\tone two . three\n c\tfour five six\nb\tone\n\tseven . eight . nine ten\na b\ttwo\n");
  write("dev.tsv", "c\tone\n");
  write("tags.tsv", "0 1 0\tone two three\n1\tfour\n0 0\tfive six\n0\t one\n");
  write("tags_dev.tsv", "0\tone\n");
  const std::vector<std::vector<std::string>> cases{
      {},
      {"data.sentences=rule", "model.attention={preset: yang_2016}", "model.features={kind: convolution, dim: 8}",
       "model.features.dropout=0.4"},
      {"train.class_weights=[positive=3]", "train.label_smoothing=0.1"},
      {"model.attention={structure: self_attentive(structured)}", "train.penalty=0.5"},
      {data("", "tags.tsv", "tags_dev.tsv"), "model.output=token_softmax", "train.class_weights=balanced"},
      {data(), "model.output=sigmoid"}};
  for (const auto& overrides : cases) {
    SCOPED_TRACE(overrides.empty() ? "" : overrides.back());
    const auto task = labels_task(overrides);
    task->model().train();
    const auto loss_of = [&](int rank, int world) {
      task->model().zero_grad();
      const Loss loss = task->loss({.epoch = 1, .batch = 0, .rank = rank, .world = world});
      at::Tensor gradient;
      if (loss.sum.defined()) {
        loss.sum.backward();
        gradient = task->model().named_parameters().begin()->value().grad().clone();
      }
      return std::tuple{loss.sum.defined() ? loss.sum.item<double>() : 0.0, loss.count, gradient};
    };
    const auto [whole, count, gradient] = loss_of(0, 1);
    for (const int world : {2, 3, 9}) {  // with 9, some get nothing of a small batch
      double sum = 0;
      int64_t terms = 0;
      at::Tensor together = at::zeros_like(gradient);
      for (int rank = 0; rank < world; ++rank) {
        const auto [own, own_count, own_gradient] = loss_of(rank, world);
        sum += own;
        terms += own_count;
        if (own_gradient.defined()) together += own_gradient;
      }
      EXPECT_EQ(terms, count);
      EXPECT_NEAR(sum, whole, 1e-5 * whole);
      EXPECT_LT((together - gradient).abs().max().item<double>(), 1e-4 * gradient.abs().max().item<double>());
    }
  }
}

// ---- runs ----

void write_runs_data(const Folder& folder) {
  std::ofstream tags(folder.path("tags.tsv")), numbers(folder.path("numbers.tsv")), pairs(folder.path("pairs.tsv")),
      vectors(folder.path("vectors.txt"));
  for (int i = 0; i < 40; ++i) {
    tags << i % 2 << " 1 0\tword" << i % 5 << " the film"
         << "\n";
    numbers << i % 7 << "\tword" << i % 7 << " the film\n";
    pairs << (i % 3 == 0 ? "same" : "other") << "\tword" << i % 3 << "\t" << (i % 4 == 0 ? "" : "word0 film") << "\n";
  }
  for (int i = 0; i < 5; ++i) vectors << "word" << i << " 1 0 0 " << i << " 0 0.5 0 -1\n";
}

TEST_F(ExampleFolder, ResumesWithTheSameBits) {
  write_runs_data(folder_);
  const auto table = [&](const std::string& file, const std::string& text) {
    return "data={root: " + folder_.path() + ", train: " + file + ", dev: " + file + ", label: 1, text: " + text + "}";
  };
  const std::vector<std::vector<std::string>> cases{
      {},
      {"model.attention=additive + hard"},
      {"model.attention=additive + reinforced", "train.reward=0.5"},
      {"data.sentences=rule", "model.attention={preset: yang_2016}"},
      {"model={features: {kind: transformer, num_heads: 2, num_layers: 1, class_token: true}, attention: fixed, "
       "embedding: {dim: 8}}"},
      {"model.attention={preset: kiela_2018}", "train.optimizer=adam(weight_decay=0.1)"},
      {table("tags.tsv", "2"), "data.tokenizer=bpe(merges=10)", "model.output=token_softmax"},
      {table("numbers.tsv", "2"), "model.output=regression", "model.embedding.frozen=true",
       "model.embedding.vectors=" + folder_.path("vectors.txt")},
      {table("pairs.tsv", "[first=2, second=3]"), "model.attention={structure: interactive}"}};
  int number = 0;
  for (const auto& overrides : cases) {
    SCOPED_TRACE(overrides.empty() ? "" : overrides.front());
    const std::string whole = folder_.path("whole" + std::to_string(number)),
                      parts = folder_.path("parts" + std::to_string(number));
    ++number;
    train_labels(whole, overrides);
    auto first = overrides, second = overrides;
    first.emplace_back("train.max_steps=10");
    second.emplace_back("train.max_steps=20");
    train_labels(parts, first);
    train_labels(parts, second, {.resume = true});
    train_labels(parts, overrides, {.resume = true});
    EXPECT_TRUE(same_tensors(tensors_of(parts), tensors_of(whole)));
    EXPECT_EQ(metrics_without_times(parts), metrics_without_times(whole));
    EXPECT_EQ(read_file(parts + "/dev.predictions.tsv"), read_file(whole + "/dev.predictions.tsv"));
  }
}

TEST_F(ExampleFolder, KeepsFrozenVectorsThroughout) {
  write_runs_data(folder_);
  const std::string run = folder_.path("run");
  train_labels(run,
               {"data={root: " + folder_.path() + ", train: numbers.tsv, dev: numbers.tsv, label: 1, text: 2}",
                "model.output=regression", "model.embedding.frozen=true",
                "model.embedding.vectors=" + folder_.path("vectors.txt"), "train.optimizer=adam(weight_decay=0.5)"});
  Classifier classifier = Classifier::load(run, at::kCPU);
  const auto table = classifier.model().named_parameters().find("embedding.weight")->detach();
  const int64_t word3 = classifier.reader().tokenizer->id("word3");
  EXPECT_TRUE(at::equal(table[word3], at::tensor({1.0F, 0.0F, 0.0F, 3.0F, 0.0F, 0.5F, 0.0F, -1.0F})));
  EXPECT_NE(table[classifier.reader().tokenizer->id("word6")].abs().max().item<double>(), 0);  // drawn
  EXPECT_EQ(table[0].abs().max().item<double>(), 0);
}

// The reader of a run splits sentences before it lowercases them, as the corpus did: see TextReader.
TEST_F(ExampleFolder, IsReadByAClassifierAsInTraining) {
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += std::string(i % 2 == 0 ? "good" : "bad") + "\tWe had plan " + "AB"[i % 2] + ". " + std::to_string(i % 3) +
             " of it. Then No One sat\n";
  write("train.tsv", lines);
  write("dev.tsv", lines);
  const std::string run = folder_.path("run");
  train_labels(run, {data("sentences: rule, lowercase: true"), "model.attention={preset: yang_2016}"});
  Classifier classifier = Classifier::load(run, at::kCPU);
  std::vector<std::vector<std::string>> texts;
  std::vector<std::string> labels;
  std::ifstream file(folder_.path("dev.tsv"));
  for (std::string line; std::getline(file, line);) {
    labels.push_back(line.substr(0, line.find('\t')));
    texts.push_back({line.substr(line.find('\t') + 1)});
  }
  write_predictions(folder_.path("own.tsv"), classifier, classifier.predict(texts), labels);
  EXPECT_EQ(read_file(folder_.path("own.tsv")), read_file(run + "/dev.predictions.tsv"));
}

TEST_F(ExampleFolder, RefusesToResumeWithOtherData) {
  write("train.tsv", kFourAndTwo);
  write("dev.tsv", kFourAndTwo);
  const std::string run = folder_.path("run");
  const auto resumed = [&](const std::string& steps) {
    train_labels(run, {data(), "train.max_steps=" + steps}, {.resume = true});
  };
  train_labels(run, {data(), "train.max_steps=2"});
  resumed("3");
  for (const char* name : {"train.tsv", "dev.tsv"}) {
    for (const char* other : {"b\tone\na\ttwo x\na\tthree x y\nb\tfour\na\tfive x\na\tseven\n",
                              "b\tone\na\ttwo x\na\tthree x y\nb\tfour\na\tfive x\nb\tsix\n"}) {
      write(name, other);
      expect_parts(refusal([&] { resumed("4"); }), {name[0] == 't' ? "data.train" : "data.dev", "other data"});
    }
    write(name, kFourAndTwo);
  }
  expect_parts(refusal([&] {
                 train_labels(run, {data("lowercase: true"), "train.max_steps=4"}, {.resume = true});
               }),
               {"data.lowercase"});
  resumed("4");
}

// ---- the score ----

TEST_F(ExampleFolder, IsScoredByItsMonitor) {
  write("train.tsv", "1 0\tone two\n0 1\ttwo one\n");
  write("dev.tsv", "1 0\tone two\n");
  const auto score = [&](const std::vector<std::string>& overrides, const Figures& figures) {
    return labels_task(overrides)->score(figures);
  };
  const Figures classes{{"loss", 2}, {"accuracy", 0.75}, {"f1", 0.5}};
  EXPECT_EQ(score({}, classes), 0.75);
  EXPECT_EQ(score({"eval.monitor=f1"}, classes), 0.5);
  EXPECT_EQ(score({"eval.monitor=loss"}, classes), -2);
  EXPECT_EQ(score({data(), "model.output=token_softmax"}, classes), 0.5);
  write("train.tsv", "1\tone two\n0\ttwo one\n");
  write("dev.tsv", "1\tone two\n");
  const Figures numbers{{"loss", 2}, {"mse", 3}, {"spearman", 0.25}};
  EXPECT_EQ(score({data(), "model.output=regression"}, numbers), -2);
  EXPECT_EQ(score({data(), "model.output=regression", "eval.monitor=mse"}, numbers), -3);
  EXPECT_EQ(score({data(), "model.output=regression", "eval.monitor=spearman"}, numbers), 0.25);
  EXPECT_EQ(score({data(), "model.output=sigmoid"}, classes), 0.5);
  expect_parts(refused({"eval.monitor=spearman"}), {"eval.monitor", "expected one of loss, accuracy, f1"});
  expect_parts(refused({data(), "model.output=regression", "eval.monitor=f1"}),
               {"eval.monitor", "loss, mse, spearman"});
}

TEST_F(ExampleFolder, NamesTheFiguresOfItsValidation) {
  write("train.tsv", "1\tone two\n0\ttwo one\n");
  write("dev.tsv", "1\tone two\n");
  const auto names = [&](const std::vector<std::string>& overrides) {
    std::string all;
    for (const auto& [name, value] : labels_task(overrides)->validate()) {
      all += name + " ";
      EXPECT_TRUE(std::isfinite(value)) << name;
    }
    return all;
  };
  EXPECT_EQ(names({}), "loss accuracy f1 ");
  EXPECT_EQ(names({data(), "model.output=sigmoid"}), "loss accuracy f1 ");
  EXPECT_EQ(names({data(), "model.output=regression"}), "loss mse spearman ");  // of one example: 0, not NaN
}

TEST_F(ExampleFolder, DescribesABatchByTheOriginsOfItsExamples) {
  write("train.tsv", kFourAndTwo);
  write("dev.tsv", kFourAndTwo);
  const std::string text = labels_task({data(), "train.batch_tokens=1000"})->describe({.epoch = 2, .batch = 0});
  expect_parts(text, {"epoch 3, batch 1, examples ", folder_.path("train.tsv") + ":3"});
}

// ---- what it refuses ----

TEST_F(ExampleFolder, ChecksTheRecipeBeforeItReadsAFile) {
  write("train.tsv", "no table\n");
  write("dev.tsv", "");
  for (const auto& [setting, said] : std::vector<std::pair<std::string, std::string>>{
           {"model.attention={mechanism: additive + softmx}", "model.attention.mechanism"},
           {"model.attention={preset: yang_2016}", "needs documents of sentences"},
           {"model.output.kind=softmx", "softmx"},
           {"model.features={kind: convolution, widths: 2}", "model.features.widths"},
           {"data.tokenizer=word", "data.tokenizer"},
           {"train.class_weights=[a=many]", "train.class_weights"},
           {"train.class_weights=[a=-1]", "train.class_weights"},
           {"train.label_smoothing=1", "train.label_smoothing"},
           {"eval.monitor=bleu", "eval.monitor"},
           {"data.label=mean(1)", "data.label"},
           {"model.embedding.vectors=none.txt", "model.embedding.vectors"},
           {"model.querry=mean", "model.querry"},
           {"data.classes=[a]", "data.classes"}})
    expect_parts(refused({data(), setting}), {"recipe: ", said});
  expect_parts(refused({data(), "model.output=regression", "train.label_smoothing=0.1"}), {"train.label_smoothing"});
  expect_parts(refused({data(), "model.output=regression", "train.class_weights=[a=2]"}), {"train.class_weights"});
  expect_parts(
      refused({data(), "model={attention: {structure: capsule}, output: capsule}", "train.class_weights=balanced"}),
      {"train.class_weights"});
  expect_parts(refused({data("sentences: rule"), "model.output=token_softmax"}), {"recipe: data.sentences"});
}

TEST_F(ExampleFolder, NamesFileAndLineOfWhatIsBroken) {
  const std::string good = "a\tone\nb\ttwo\n";
  const auto broken = [&](const std::string& train, const std::string& dev, const std::vector<std::string>& more = {}) {
    write("train.tsv", train);
    write("dev.tsv", dev);
    std::vector<std::string> all{data()};
    all.insert(all.end(), more.begin(), more.end());
    return refused(all);
  };
  const std::string train = folder_.path("train.tsv"), dev = folder_.path("dev.tsv");
  EXPECT_EQ(broken(good, good), "nothing was refused");
  expect_parts(broken("a\tone\nb\n", good), {train + ":2", "got 1 column, expected at least 2"});
  expect_parts(broken(good, "a\tone\nc\ttwo\n"), {dev + ":2", "'c'", "a, b"});
  expect_parts(broken("", good), {train, "empty"});
  expect_parts(broken(good, ""), {dev, "empty"});
  expect_parts(broken("a\tone\na\ttwo\n", good), {train, "the label 'a'", "at least two classes"});
  expect_parts(broken("a\tone\nb\t" + std::string(1 << 21, 'x') + "\n", good), {train + ":2"});
  expect_parts(broken(std::string("a\tone\nb\tt\0o\n", 12), good), {train + ":2", "NUL"});
  expect_parts(broken("a\t \nb\t\n", good), {train, "without text"});
  expect_parts(broken("0 1\tone\n0\ttwo\n", good, {"model.output=token_softmax"}),
               {train + ":1", "got 2 labels for 1 words"});
  expect_parts(broken("0\tone\n1\ttwo\n", "2\tone\n", {"model.output=token_softmax"}), {dev + ":1", "'2'"});
  expect_parts(broken("a\tone\nb,c\ttwo\n", "a,d\tone\n", {"model.output=sigmoid"}), {dev + ":1", "'d'"});
  expect_parts(broken("\tone\n\ttwo\n", "\tone\n", {"model.output=sigmoid"}), {"got no label in 2 examples"});
  expect_parts(broken("0\tone\nx\ttwo\n", "0\tone\n", {"model.output=regression"}),
               {train + ":2", "expected a number"});
  expect_parts(broken("0\tone\n1\ttwo\n", "inf\tone\n", {"model.output=regression"}),
               {dev + ":1", "expected a number"});
  expect_parts(broken("0 1\tone\n0 x\ttwo\n", good, {"model.output=regression", "data.label=mean(1)"}),
               {train + ":2", "got 'x' in the label"});
  expect_parts(broken(good, good, {"train.class_weights=[c=2]"}), {"train.class_weights", "'c'", "a, b"});
  write("train.csv", "label,text\na,one\nb,two,three\n");
  write("dev.csv", "label,text\na,one\n");
  expect_parts(refused({"data={root: " + folder_.path() + ", train: train.csv, dev: dev.csv}"}),
               {folder_.path("train.csv") + ":3", "got 3 fields, expected 2"});
  write("train.csv", "label,text\na,one\nb,two\n");
  expect_parts(refused({"data={root: " + folder_.path() + ", train: train.csv, dev: dev.csv, text: txt}"}),
               {folder_.path("train.csv"), "no column 'txt'", "text"});
  write("vectors.txt", "one 1 2 3 4 5 6 7 8\ntwo 1 2 3 nan 5 6 7 8\n");
  expect_parts(broken(good, good, {"model.embedding.vectors=" + folder_.path("vectors.txt")}),
               {folder_.path("vectors.txt") + ":2", "'nan' as value 4 of the word 'two'"});
  write("vectors.txt", "one 1 2 3\ntwo 1 2 3\n");
  expect_parts(broken(good, good, {"model.embedding.vectors=" + folder_.path("vectors.txt")}),
               {"vectors of 3 numbers, expected 8", "model.embedding.dim"});
}

TEST_F(ExampleFolder, LeavesAnExistingRunWhereItIsBroken) {
  const std::string run = folder_.path("run");
  write("train.tsv", kFourAndTwo);
  write("dev.tsv", kFourAndTwo);
  train_labels(run, {data(), "train.max_steps=2"});
  const auto names = Folder::names(run);
  const std::string checkpoint = read_file(run + "/checkpoint.safetensors"),
                    model = read_file(run + "/model.safetensors");
  expect_parts(refusal([&] { train_labels(run, {data()}); }), {"already holds a run"});
  write("dev.tsv", "c\tone\n");
  expect_parts(refusal([&] { train_labels(run, {data()}, {.force = true}); }), {folder_.path("dev.tsv") + ":1"});
  expect_parts(refusal([&] { train_labels(run, {data()}, {.resume = true}); }), {folder_.path("dev.tsv") + ":1"});
  EXPECT_EQ(Folder::names(run), names);
  EXPECT_EQ(read_file(run + "/checkpoint.safetensors"), checkpoint);
  EXPECT_EQ(read_file(run + "/model.safetensors"), model);
}

TEST_F(ExampleFolder, SaysWhatWasLeftOutOrCut) {
  write("train.tsv", "a\tone two three\nb\tone\na\t\n");
  write("dev.tsv", "a\tone\nb\t \n");
  EXPECT_EQ(labels_task({data("max_length: 2")})->remarks(),
            "left out of training: 1 without text; left out of dev: 1 without text; "
            "cut 1 texts after data.max_length = 2 tokens");
}

}  // namespace
}  // namespace heed::testing
