#include "apps/cli/torch/explain_run.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "apps/cli/amount_text.h"
#include "apps/cli/compare.h"
#include "apps/cli/explain/page.h"
#include "apps/cli/explain/rationales.h"
#include "apps/cli/explain/variants.h"
#include "apps/cli/module.h"
#include "apps/cli/program_name.h"
#include "apps/cli/torch/device.h"
#include <c10/util/Exception.h>
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/interrupt.h"
#include "heed/base/md5.h"
#include "heed/base/path.h"
#include "heed/data/file.h"
#include "heed/data/folder_lock.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char *kModelFact = kExplanationModelFact, *kTextsFact = "texts (md5)", *kDrawnFact = "texts",
                     *kSeedFact = "seed of the tests", *kProgramFact = "heed";

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string fact_of(const Explanation& explanation, const std::string& name) {
  for (const auto& [known, value] : explanation.facts)
    if (known == name) return value;
  return "";
}

/// A test of this call.
struct PlannedTest {
  const ChosenTest* chosen = nullptr;
  std::vector<TrainedVariant> variants{};
  bool reads_rationales = false;
  std::string not_run{};  // why it does not apply
  std::string failure{};  // why it applies and found nothing
  bool stopped = false;   // before all of it was measured
  ExplanationResult found{};
};

class RunExplainer {
 public:
  RunExplainer(const std::string& run, const ExplainArguments& a, const std::optional<GoldWeights>& gold)
      : run_(without_last_slash(run)), a_(a), gold_(gold), folder_(run_ + "/explain"), device_(device_of(a.device)) {}

  RunExplained explain() {
    chosen_ = chosen_tests(a_.tests, variant_options(run_, a_));
    set_ = {.set = a_.set, .limit = a_.texts, .seed = static_cast<uint64_t>(a_.seed), .overrides = a_.overrides};
    for (const auto& found : root_override(run_, a_.overrides)) set_.overrides.push_back(found);
    model_ = load_explained(run_, set_, device_);
    read_rationales();
    make_folders(folder_);
    const FolderLock lock(folder_, {.command = "explain", .folder = run_, .option = ""});
    plan();
    read_earlier();
    batches_ = batches_of(*model_, device_.is_cuda());
    RunExplained result;
    result.signal = measure_all(/*with_variants=*/false);
    if (result.signal == 0 && needs_variants()) {
      write();  // what is found so far: training takes long
      result.signal = train();
      if (result.signal == 0) result.signal = measure_all(/*with_variants=*/true);
    }
    write();
    result.explanation = explanation();
    result.left = left_tests(result.explanation);
    for (const auto& one : tests_) {
      result.tests.push_back(one.chosen->spec.name);
      if (!one.failure.empty()) result.failures.push_back(one.chosen->spec.name + ": " + one.failure);
    }
    return result;
  }

 private:
  void read_rationales() {
    std::vector<RationaleText> texts;
    for (const auto& text : model_->texts()) {
      texts.push_back({text.id, text.words});
      rationales_.push_back(text.rationale);
    }
    if (gold_) {
      Rationales found = rationales_of(*gold_, texts, a_.rationales.file, a_.relevant_above);
      rationales_ = std::move(found.weights);
      if (found.missing > 0)
        progress_.line(run_ + ": " + std::to_string(found.missing) + " of " + std::to_string(gold_->texts.size()) +
                       " texts of " + a_.rationales.file + " are not among those that are explained");
    }
    has_rationales_ = std::any_of(rationales_.begin(), rationales_.end(), [](const auto& one) { return !one.empty(); });
  }

  void plan() {
    const VariantOptions options = variant_options(run_, a_);
    const ExplainedFacts& facts = model_->facts();
    for (const auto& chosen : chosen_) {
      PlannedTest one{.chosen = &chosen};
      one.not_run = chosen.test->why_not(facts, has_rationales_);
      one.reads_rationales = chosen.test->why_not(facts, true) != chosen.test->why_not(facts, false);
      if (one.not_run.empty()) one.variants = chosen.test->variants(options);
      tests_.push_back(std::move(one));
    }
  }

  void read_earlier() {
    model_md5_ = file_md5(run_ + "/model.safetensors");
    texts_md5_ = md5_of_texts(*model_);
    try {
      earlier_ = read_explanation(run_);
    } catch (const Error& error) {
      progress_.line("heed: " + std::string(error.what()) + "; it is written anew");
    }
    if (!earlier_) return;
    const std::string difference = difference_of(*earlier_);
    if (difference.empty()) return;
    progress_.line(run_ + ": " + kExplanationFile + " is of " + difference + ", and is replaced");
    earlier_.reset();
  }

  /// What earlier results depend on that those of this call do not; "" if they may be in one report.
  std::string difference_of(const Explanation& earlier) const {
    if (earlier.set != a_.set || fact_of(earlier, kModelFact) != model_md5_ ||
        fact_of(earlier, kTextsFact) != texts_md5_)
      return "another model or other texts (" + std::to_string(earlier.texts) + " of " + earlier.set + ")";
    const std::string seed = fact_of(earlier, kSeedFact), program = fact_of(earlier, kProgramFact);
    if (seed != std::to_string(a_.seed)) return "another --seed (" + (seed.empty() ? "not known" : seed) + ")";
    const std::string version = program.substr(0, program.find(' '));  // "0.2.0 (commit 1234abc)"
    if (version != kVersion) return "another version of heed (" + (version.empty() ? "not known" : version) + ")";
    return "";
  }

  /// Tests that apply and have no result yet.
  std::vector<std::string> left_tests(const Explanation& found) const {
    std::vector<std::string> left;
    for (const auto& one : chosen_tests("all", variant_options(run_, a_))) {
      const bool is_there = std::any_of(found.results.begin(), found.results.end(),
                                        [&](const ExplanationResult& result) { return result.test == one.spec.name; });
      if (!is_there && one.test->why_not(model_->facts(), has_rationales_).empty()) left.push_back(one.spec.name);
    }
    return left;
  }

  bool needs_variants() const {
    return std::any_of(tests_.begin(), tests_.end(), [](const PlannedTest& one) { return !one.variants.empty(); });
  }

  /// Returns the signal that stopped it, or 0.
  int train() {
    const std::string run = without_links(run_), origin = training_folder_of(run_);
    VariantCall call{.run = run,
                     .working_folder = origin,
                     .program = program_file(),
                     .threads = threads_option_of_call(),
                     .jobs = a_.jobs,
                     .retry = a_.retry};
    for (const auto& override : a_.overrides) {
      constexpr std::string_view kRoot = "data.root=";
      if (!override.starts_with(kRoot)) continue;
      const std::string root = override.substr(kRoot.size());
      call.overrides.push_back(std::string(kRoot) + (exists(root) ? without_links(root) : root));
    }
    if (a_.device != "auto") call.overrides.push_back("train.device=" + a_.device);
    for (const auto& one : tests_)
      for (const auto& variant : one.variants) {
        const auto [at, is_new] = call.variants.emplace(variant.name, variant.overrides);
        check(is_new || at->second == variant.overrides, "explain: got two models called ", variant.name,
              " with different overrides, expected tests that agree about it");
      }
    GridProgress progress;
    trained_ = train_variants(call, progress);
    return trained_.signal;
  }

  static int threads_option_of_call() { return threads_option() > 0 ? threads_option() : 1; }

  /// Measures the tests that train models, or the others. Returns the signal that stopped it, or 0.
  int measure_all(bool with_variants) {
    const InterruptScope interrupt;
    for (size_t i = 0; i < tests_.size(); ++i) {
      PlannedTest& one = tests_[i];
      if (one.variants.empty() == with_variants) continue;
      if (one.not_run.empty()) measure(one, i + 1, interrupt);
      if (interrupt.asked()) {
        progress_.clear();
        return interrupt.signal();
      }
    }
    progress_.clear();
    return 0;
  }

  void measure(PlannedTest& one, size_t number, const InterruptScope& interrupt) {
    one.stopped = true;
    try {
      const std::string name = one.chosen->spec.name;
      for (const auto& variant : one.variants)
        if (const auto failed = trained_.failures.find(variant.name); failed != trained_.failures.end())
          fail("the model ", variant.name, " could not be trained: ", failed->second, "; --retry trains it again");
      progress_.name(name, number, tests_.size(), model_->texts().size());
      RecordFile file(folder_ + "/" + name + ".records.jsonl", key_of(one), batches_, a_.again);
      if (!file.difference().empty())
        progress_.line(name + ": measured anew, since what was there is of something else: " + file.difference());
      if (file.batches() < batches_.size() && !measure_missing(one, file, interrupt)) return;
      one.found = one.chosen->test->summarize(file.read(), {.model = model_.get(), .seed = set_.seed});
      one.found.test = name;
      if (!one.chosen->spec.options.empty())
        one.found.notes.push_back("Options: " + one.chosen->spec.to_string() + ".");
    } catch (const WriteError& error) {
      throw WriteError(std::string(error.what()) +
                       "; make space for the file, then go on with the same command: " + provenance().command);
    } catch (const Error& error) {
      one.failure = error.what();
    } catch (const c10::Error& error) {
      one.failure = error.what_without_backtrace();
    }
    one.stopped = false;
    if (!one.failure.empty()) progress_.line(one.chosen->spec.name + " found nothing: " + one.failure);
  }

  /// Returns whether all texts are measured now.
  bool measure_missing(const PlannedTest& one, RecordFile& file, const InterruptScope& interrupt) {
    const auto began = Clock::now();
    TestContext context{.model = model_.get(), .rationales = rationales_, .seed = set_.seed};
    std::map<std::string, std::unique_ptr<ExplainedModel>> variants;
    for (const auto& variant : one.variants) {
      auto& loaded = variants[variant.name];
      loaded = load_explained(trained_.folders.at(variant.name), set_, device_);
      check(md5_of_texts(*loaded) == texts_md5_, "the model ", variant.name,
            " reads other texts than the run, expected the same tokens of each");
      context.variants[variant.name] = loaded.get();
    }
    const auto stop = [&] { return interrupt.asked(); };
    const bool all = measure_texts(*one.chosen->test, context, batches_, file, progress_, stop);
    if (all)
      progress_.line(one.chosen->spec.name + ": " +
                     duration(std::chrono::duration<double>(Clock::now() - began).count()));
    return all;
  }

  /// What the records of a test depend on.
  Json key_of(const PlannedTest& one) const {
    Json key{{"test", one.chosen->spec.to_string()},
             {"heed", std::string(kVersion)},
             {"set", a_.set},
             {"seed", a_.seed},
             {"texts", model_->texts().size()},
             {"texts_md5", texts_md5_},
             {"model_md5", model_md5_},
             {"results_md5", file_md5(run_ + "/results.json")},
             {"device", device_.is_cuda() ? "cuda" : "cpu"}};
    if (one.reads_rationales) key["rationales_md5"] = md5_hex(Json(rationales_).dump());
    for (const auto& variant : one.variants)
      key["variants"][variant.name] = file_md5(trained_.folders.at(variant.name) + "/model.safetensors");
    return key;
  }

  const ExplanationResult* earlier(const std::string& test) const {
    if (!earlier_) return nullptr;
    for (const auto& result : earlier_->results)
      if (result.test == test) return &result;
    return nullptr;
  }

  /// The result of this call; of an earlier one if this call has none.
  std::optional<ExplanationResult> result_of(const std::string& test) const {
    const ExplanationResult* const before = earlier(test);
    const auto one = std::find_if(tests_.begin(), tests_.end(),
                                  [&](const PlannedTest& planned) { return planned.chosen->spec.name == test; });
    const bool is_new = one != tests_.end() && !one->stopped;
    const std::string why = !is_new ? "" : one->not_run.empty() ? one->failure : one->not_run;
    if (is_new && why.empty() && !one->found.test.empty()) return one->found;
    if (before != nullptr && (why.empty() || before->not_run.empty())) return *before;
    if (why.empty()) return std::nullopt;
    ExplanationResult result = one->chosen->test->card();
    result.test = test;
    result.not_run = why;
    return result;
  }

  Explanation explanation() const {
    Explanation all{.run = run_,
                    .task = model_->facts().task,
                    .mechanism = model_->facts().mechanism,
                    .set = a_.set,
                    .texts = std::ssize(model_->texts())};
    for (const auto& name : explanation_tests())
      if (auto result = result_of(name)) all.results.push_back(std::move(*result));
    Provenance origin = provenance();
    origin.add_runs(read_run_summary(run_).origin);
    all.facts = facts(origin);
    all.facts.emplace_back(kSeedFact, std::to_string(a_.seed));
    all.facts.emplace_back(kDrawnFact,
                           a_.texts > 0 ? std::to_string(all.texts) + " of " + a_.set + ", drawn" : "all of " + a_.set);
    all.facts.emplace_back(kModelFact, model_md5_);
    all.facts.emplace_back(kTextsFact, texts_md5_);
    return all;
  }

  void write() const {
    const Explanation all = explanation();
    if (all.results.empty()) return;
    const std::string json = as_json(all).dump(2, ' ', false, Json::error_handler_t::replace);
    write_atomically(run_ + "/" + kExplanationFile, json + "\n");
    write_atomically(run_ + "/" + kExplanationPage, explanation_page({all}));
  }

  std::string run_;
  const ExplainArguments& a_;
  const std::optional<GoldWeights>& gold_;
  std::string folder_;
  at::Device device_;
  std::vector<ChosenTest> chosen_;
  ExplainedSet set_{};
  std::unique_ptr<ExplainedModel> model_;
  std::vector<std::vector<double>> rationales_;
  bool has_rationales_ = false;
  std::vector<PlannedTest> tests_;
  std::string model_md5_, texts_md5_;
  std::optional<Explanation> earlier_;
  ExplanationBatches batches_;
  VariantOutcome trained_;
  TestProgress progress_;
};

}  // namespace

RunExplained explain_run(const std::string& run, const ExplainArguments& a, const std::optional<GoldWeights>& gold) {
  return RunExplainer(run, a, gold).explain();
}

VariantOptions variant_options(const std::string& run, const ExplainArguments& a) {
  const Settings recipe = read_recipe(run + "/recipe.yaml");
  return {.run = without_links(run),
          .seeds = a.seeds,
          .lambdas = a.lambdas,
          .run_seed = recipe.at("train").integer("seed", 1)};
}

}  // namespace heed::cli
