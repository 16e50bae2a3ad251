// Options of heed explain.

#include "apps/cli/explain_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

#include "heed/data/file.h"

namespace heed::cli {
namespace {

constexpr const char* kNote =
    "Asks whether the attention of a run can be read as an explanation of what it decides, and writes explain.html "
    "and\n"
    "explain.json into its folder. The same command goes on where it was stopped, after kill -9 too. Tests that need\n"
    "more models train them in RUN/explain; --tests fast leaves them out. Several runs are compared in one page.";

void add_rationale_options(CLI::App& command, ExplainArguments& a) {
  auto* file = command.add_option("--rationales", a.rationales.file,
                                  "Weights of people for the words of the texts, a table as heed eval --attention "
                                  "reads it; default: those of the set");
  const std::vector<CLI::Option*> more{
      command.add_option("--id-column", a.rationales.id_column, "Column of ids or line numbers, by name or from 1")
          ->capture_default_str(),
      command.add_option("--text-column", a.rationales.text_column,
                         "Column of texts, or with --word-rows of words, by which texts are found too"),
      command.add_option("--gold-column", a.rationales.gold_column, "Column of weights; default: the last"),
      command.add_flag("--word-rows", a.rationales.word_rows, "A record is a word; those with the same id are a text"),
      command.add_option("--strip-suffix", a.rationales.strip_suffix, "Remove this from the end of a word: '<EOS>'"),
      command
          .add_option("--relevant-above", a.relevant_above,
                      "Words with more weight are a rationale; default: those "
                      "with 1")
          ->check(finite_number(-1e300, 1e300))};
  for (auto* option : more) option->needs(file)->group("Rationales");
  file->group("Rationales");
}

void add_variant_options(CLI::App& command, ExplainArguments& a) {
  constexpr double kMaxLambda = 1e6;
  constexpr int64_t kMaxSeeds = 100, kMaxJobs = 1024;
  const std::vector<CLI::Option*> all{
      command.add_option("--seeds", a.seeds, "Models of other seeds for each figure")
          ->check(whole_number(1, kMaxSeeds))
          ->capture_default_str(),
      command.add_option("--lambdas", a.lambdas, "Weights of the difference in the loss of adversaries")
          ->delimiter(',')
          ->check(finite_number(0, kMaxLambda))
          ->capture_default_str(),
      command.add_option("--jobs", a.jobs, "Models trained at once; default 0: as many as processors and memory allow")
          ->check(whole_number(0, kMaxJobs)),
      command.add_flag("--retry", a.retry, "Train again what failed before")};
  for (auto* option : all) option->group("Models that are trained");
}

void add_explain(CLI::App& app) {
  auto* command = app.add_subcommand("explain", "Test whether the attention of a run explains what it decides");
  auto a = std::make_shared<ExplainArguments>();
  auto words = std::make_shared<std::vector<std::string>>();
  constexpr int64_t kMaxTexts = 1 << 30, kMaxSeed = int64_t{1} << 62;
  add_examples(*command,
               {"{} explain runs/demo/additive --tests fast",
                "{} explain runs/demo/additive --tests permutation,erasure", "{} list tests"},
               kNote);
  command
      ->add_option("run", *words,
                   "Run folders, and overrides of their recipes for the texts, key.path=value: data.root=...")
      ->required();
  command
      ->add_option("--tests", a->tests,
                   "all, fast (those that train no models), or names, with options in brackets: "
                   "'permutation(samples=20),erasure'; heed list tests shows them")
      ->capture_default_str();
  command->add_option("--set", a->set, "The set whose texts are explained")
      ->check(CLI::IsMember({"dev", "test"}))
      ->capture_default_str();
  command->add_option("--texts", a->texts, "Texts of the set, drawn by --seed; default 0: all")
      ->check(whole_number(0, kMaxTexts));
  command->add_option("--seed", a->seed, "Seed of everything that is drawn")
      ->check(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->add_flag("--again", a->again, "Measure again what was measured before");
  command->add_option(
      "--out", a->out,
      "Write the page to this file too; default of several runs: explain.html in the folder they are in");
  command->add_flag("--json", a->json, "Print JSON");
  add_device_option(*command, a->device);
  add_variant_options(*command, *a);
  add_rationale_options(*command, *a);
  command->callback([a, words] {
    sort_words(*words, *a);
    if (a->runs.empty()) throw CLI::RequiredError("run");
    run_in_module("explain", *a);
  });
}

const Command explain_command{55, add_explain};

}  // namespace

void sort_words(const std::vector<std::string>& words, ExplainArguments& a) {
  for (const auto& word : words) {
    const std::string key = word.substr(0, word.find('='));
    const bool is_override = key.size() < word.size() && !key.empty() && key.find('/') == std::string::npos;
    (is_override && !is_folder(word) ? a.overrides : a.runs).push_back(word);
  }
}

}  // namespace heed::cli
