// Runs the program as a user does: exit codes, messages, signals, full disks, and the effect of options. Two tiny
// translators, one for each direction, are trained once for all tests.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "apps/cli/testing_runs.h"
#include <nlohmann/json.hpp>

#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

using testing::says;

constexpr const char* kRecipe = R"(task: translate
data: {train: grammar, grammar: {train: 300, dev: 4, test: 4}, tokenizer: words}
model:
  embedding: {dim: 16, dropout: 0}
  features: {kind: recurrent, dim: 16}
  query: {kind: bahdanau, state_dim: 16, out_dim: 16}
  attention: additive + softmax
train: {max_epochs: 0, max_steps: 40, batch_tokens: 600, lr: 0.01, validate_every: 1000, log_every: 1, checkpoint_every: 1000}
eval: {tokenize: none, beam: 1}
)";

constexpr const char *kSource = "Tom chases Jerry\ntoday two angry cats chase the mouse in the garden\nMary sleeps\n",
                     *kTarget = "汤姆 追逐 杰瑞\n今天 两 只 生气 的 猫 在 花园 追逐 老鼠\n玛丽 睡觉\n";

class Program : public ProgramRuns {
 protected:
  static void SetUpTestSuite() {
    write_shared("toy.yaml", kRecipe);
    train({"toy.yaml", "run.dir=there"});
    train({"toy.yaml", "run.dir=back", "data.swap=true"});
  }

  Outcome run_bare(const std::vector<std::string>& arguments, const Start& start = {}) const {
    return Process(folder_, arguments, start).wait();
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

// ---- exit codes and messages ----

TEST_F(Program, ExitsWithZeroOnSuccess) {
  EXPECT_EQ(run_bare({"--version"}).code, 0);
  EXPECT_EQ(run_bare({"translate", "--help"}).code, 0);
}

TEST_F(Program, ExitsWithTwoOnAWrongCommandLine) {
  struct Misuse {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::vector<Misuse> all{
      {{}, "Usage: heed"},
      {{"translte"}, "heed: no command called 'translte' (did you mean 'translate'?); known: "},
      {{"\x1b[31mlist"}, "heed: no command called '\\x1b[31mlist'"},
      {{"list", "--nosuch"}, "heed: The following argument was not expected: --nosuch"},
      {{"translate"}, "heed: run is required"},
      {{"--threads", "abc", "info"}, "heed: --threads: got 'abc', expected a whole number from 0 to 256\n"},
      {{"--threads", "1000", "info"}, "heed: --threads: got '1000', expected a whole number from 0 to 256\n"},
      {{"translate", "run", "--length-penalty", "nan"},
       "heed: --length-penalty: got 'nan', expected a number from 0 to 10\n"},
      {{"translate", "run", "--lines", "-1"}, "heed: --lines: got '-1', expected a whole number from 0 to 1048576\n"},
      {{"align", "run", "a", "b", "--threshold", "nan"},
       "heed: --threshold: got 'nan', expected a number from 0 to 1\n"}};
  for (const auto& misuse : all) {
    const Outcome outcome = run_bare(misuse.arguments);
    EXPECT_EQ(outcome.code, kMisused) << misuse.said;
    EXPECT_TRUE(says(outcome.err, {misuse.said}));
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
    EXPECT_LT(outcome.err.size(), misuse.arguments.empty() ? 4000U : 400U) << outcome.err;
  }
}

TEST_F(Program, ExitsWithOneOnFailure) {
  const Outcome no_run = run({"translate", "none"});
  EXPECT_EQ(no_run.code, kFailed);
  EXPECT_TRUE(says(no_run.err, {"heed: none: got no folder of that name, expected a run"}));
  const Outcome escapes = run({"train", runs("toy.yaml"), "train.lr=\x1b[31m" + std::string(50'000, 'x')});
  EXPECT_EQ(escapes.code, kFailed);
  EXPECT_TRUE(
      says(escapes.err, {"heed: recipe: train.lr is '\\x1b[31mxxx", "... (50005 characters)', expected a number"}));
  EXPECT_LT(escapes.err.size(), 400U);
}

// ---- heed eval: arguments as in sacreBLEU ----

TEST_F(Program, TakesMetricsAndReferencesAsLists) {
  const std::string hypothesis = write("hyp", "a cat sat\n"), one = write("one", "a cat sat down\n"),
                    two = write("two", "the cat sat\n");
  const auto keys = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::string all;
    auto report = nlohmann::ordered_json::parse(outcome.out);
    EXPECT_EQ(report["provenance"]["data"].size(), 2U);
    report.erase("provenance");
    for (const auto& [name, figure] : report.items())
      all += name + " " + figure.value("signature", "").substr(0, 6) + "; ";
    return all;
  };
  const std::string both = "bleu nrefs:; chrf nrefs:; ter nrefs:; ";
  EXPECT_EQ(
      keys({"eval", "--metrics", "bleu", "chrf", "ter", "--hypothesis", hypothesis, "--reference", one, "--json"}),
      both);
  EXPECT_EQ(keys({"eval", "--metrics", "bleu,chrf,ter", "--hypothesis", hypothesis, "--reference", one, "--json"}),
            both);
  EXPECT_EQ(keys({"eval", "--hypothesis", hypothesis, "--reference", one, "--json", "--metrics", "bleu", "chrf,ter"}),
            both);
  const Outcome two_references =
      run({"eval", "--reference", one, two, "--metrics", "bleu", "ter", "--hypothesis", hypothesis});
  EXPECT_TRUE(says(two_references.out, {"BLEU|nrefs:2|", "TER|nrefs:2|"})) << two_references.err;
  EXPECT_EQ(
      two_references.out,
      run({"eval", "--hypothesis", hypothesis, "--metrics", "bleu,ter", "--reference", one, "--reference", two}).out);
}

TEST_F(Program, ComparesSystemsOnFilesWithoutTorch) {
  const std::string gold = write("gold", "1\n2\n3\n4\n"), one = write("one", "1\n2\n3\n5\n"),
                    other = write("other", "2\n1\n5\n3\n");
  const Outcome table = run({"eval", "--metrics", "mse", "spearman", "--reference", gold, "--hypothesis", one, other,
                             "--intervals", "--paired", "bootstrap", "--samples", "100", "--seed", "7"},
                            {.environment = {{"LD_DEBUG", "files"}}});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(says(table.out, {"MSE|", "Spearman|", "difference", "100 samples of 4 numbers, seed 7", "data (md5)"}));
  EXPECT_EQ(table.err.find("libtorch"), std::string::npos);
  const Outcome mixed = run({"eval", "--metrics", "mse,bleu", "--reference", gold, "--hypothesis", one});
  EXPECT_EQ(mixed.code, kFailed);
  EXPECT_TRUE(says(mixed.err, {"got the metrics mse, of numbers, and bleu, of texts, expected metrics of one kind"}));
  const Outcome test = run({"eval", "--paired", "t-test", "--reference", gold, "--hypothesis", one, other});
  EXPECT_EQ(test.code, kMisused);
  EXPECT_EQ(run({"eval", runs("there"), "--seed", "3"}).code, kMisused);
}

TEST_F(Program, RefusesOptionsOfFilesForARunWithACure) {
  const Outcome outcome = run({"eval", runs("there"), "--metrics", "bleu"});
  EXPECT_EQ(outcome.code, kMisused);
  EXPECT_TRUE(says(outcome.err, {"there' and --metrics, expected one of them; heed eval RUN reports every metric"}));
  const Outcome after = run({"eval", "--metrics", "bleu", runs("there")});
  EXPECT_EQ(after.code, kFailed);
  EXPECT_TRUE(
      says(after.err, {"eval: no metric called '", "heed eval RUN reports all of them and takes no --metrics"}));
}

// ---- heed list ----

TEST_F(Program, ListsATableAndFindsNamesUsedInPapers) {
  const Outcome table = run({"list"});
  EXPECT_EQ(table.code, 0);
  EXPECT_TRUE(says(table.out, {"   1 scaled_dot", "   1 softmax", "heed list NAME, the card"}));
  const Outcome card = run({"list", "bilinear"});
  EXPECT_TRUE(says(card.out, {"bilinear is another name of general (score)\n", "also called  bilinear, luong"}));
  EXPECT_EQ(run({"list", "nosuch"}).code, kFailed);
}

// ---- heed compare, and run folders named after overrides ----

TEST_F(Program, ComparesRunsThatDifferInOneKey) {
  for (const auto* attention : {"model.attention=general + softmax", "model.attention=fixed"})
    ASSERT_EQ(run({"train", runs("toy.yaml"), attention, "train.max_steps=3", "--quiet"}).code, 0) << attention;
  const Outcome table = run({"compare", "runs", runs("there")});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(says(table.out, {"run ", "parameters", "test BLEU", "tokens/s", "runs/toy-attention=fixed,max_steps=3",
                               "runs/toy-attention=general+softmax,max_steps=3", "  general + softmax  ", "  fixed  ",
                               "  additive + softmax  ", " AER "}));
  const auto json = nlohmann::json::parse(run({"compare", "runs", "--json", "--sort", "parameters"}).out)["runs"];
  ASSERT_EQ(json.size(), 2U);
  EXPECT_LT(json[0]["parameters"].get<double>(), json[1]["parameters"].get<double>());
  EXPECT_GT(json[0]["tokens_per_second"].get<double>(), 0);
  EXPECT_TRUE(json[0]["missing"].is_null());
}

TEST_F(Program, ResumesARunInTheFolderNamedAfterItsOverrides) {
  ASSERT_EQ(run({"train", runs("toy.yaml"), "train.seed=7", "train.max_steps=2", "--quiet"}).code, 0);
  EXPECT_EQ(run({"train", runs("toy.yaml"), "train.seed=7", "train.max_steps=2", "--quiet", "--resume"}).code, 0);
  EXPECT_EQ(run({"train", "--resume", "runs/toy-max_steps=2,seed=7", "train.max_steps=3", "--quiet"}).code, 0);
  const Outcome other = run({"train", runs("toy.yaml"), "train.seed=7", "--quiet", "--resume"});
  EXPECT_EQ(other.code, kFailed);
  EXPECT_TRUE(says(other.err, {"nothing to resume in runs/toy-seed=7", "heed train --resume runs/..."}));
}

// ---- output that cannot be written ----

TEST_F(Program, NoticesAFullDisk) {
  struct stat full {};
  if (::stat("/dev/full", &full) != 0 || !S_ISCHR(full.st_mode)) GTEST_SKIP() << "no /dev/full here";
  const std::string source = write("source", kSource), target = write("target", kTarget);
  const std::vector<std::vector<std::string>> commands{
      {"list", "softmax"},
      {"translate", runs("there"), "--beam", "1"},
      {"align", runs("there"), source, target},
      {"attend", runs("there"), "--source", "Tom sleeps", "--json"},
      {"eval", "--hypothesis", source, "--reference", source, "--metrics", "bleu"}};
  for (const auto& command : commands) {
    const Outcome outcome = run(command, {.input = "Tom sleeps\n", .output = "/dev/full"});
    EXPECT_EQ(outcome.code, kFailed) << command.front();
    EXPECT_TRUE(says(outcome.err, {"heed: ", "could not"})) << command.front();
  }
  const Outcome links = run({"translate", runs("there"), "--align", "/dev/full"}, {.input = "Tom sleeps\n"});
  EXPECT_EQ(links.code, kFailed);
  EXPECT_TRUE(says(links.err, {"/dev/full could not be written"}));
}

TEST_F(Program, EndsQuietlyWhenThePipeIsClosed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const Outcome quiet = run({"list"}, {.stdout_pipe = ends[1]});
  EXPECT_EQ(quiet.code, 128 + SIGPIPE);
  EXPECT_EQ(quiet.err, "");
  const Outcome ignored = run({"list"}, {.stdout_pipe = ends[1], .ignore_sigpipe = true});
  EXPECT_EQ(ignored.code, kFailed);
  EXPECT_TRUE(says(ignored.err, {"could not write all of the output"}));
  ::close(ends[1]);
}

// ---- signals ----

TEST_F(Program, StopsTrainingAtCtrlCAndSaysHowToResume) {
  Process training(folder_, {"--threads", "1", "train", runs("toy.yaml"), "run.dir=long", "train.max_steps=1000000"});
  ASSERT_TRUE(training.wait_for("long/metrics.jsonl"));
  training.send(SIGINT);
  const Outcome outcome = training.wait();
  EXPECT_EQ(outcome.code, kInterrupted);
  EXPECT_TRUE(says(outcome.err, {"stopped at step ", "train --resume long"}));
  EXPECT_TRUE(exists(path("long/checkpoint.safetensors")));
}

// Both processes of the demo: the one that is asked ends the other, and nothing temporary remains.
TEST_F(Program, StopsTheDemoWithTheSignalItGot) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string folder = "demo" + std::to_string(signal);
    Process demo(folder_, {"demo", "--dir", folder, "train.max_steps=1000000", "train.log_every=1"});
    ASSERT_TRUE(demo.wait_for(folder + "/additive/metrics.jsonl") && demo.wait_for(folder + "/fixed/metrics.jsonl"));
    demo.send(signal);
    EXPECT_EQ(demo.wait().code, 128 + signal);
    EXPECT_TRUE(exists(path(folder + "/fixed/checkpoint.safetensors")));
    EXPECT_FALSE(exists(path(folder + "/.fixed.yaml")));
  }
}

TEST_F(Program, StopsTranslatingAtCtrlC) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int keeps_it_open = ::open(path("pipe").c_str(), O_RDWR | O_CLOEXEC);
  int out[2];
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  ASSERT_EQ(::write(keeps_it_open, "Tom sleeps\n", 11), 11);
  const pid_t process = ::fork();
  if (process == 0) {
    std::signal(SIGINT, SIG_DFL);  // a shell's background jobs ignore it
    ::dup2(keeps_it_open, STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    const std::string folder = runs("there");
    ::execl(HEED_PROGRAM, HEED_PROGRAM, "--threads", "1", "translate", folder.c_str(), nullptr);
    ::_exit(127);
  }
  char first = 0;
  EXPECT_EQ(::read(out[0], &first, 1), 1);  // it translates, and waits for the next line
  ::kill(process, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), kInterrupted);
  for (const int file : {keeps_it_open, out[0], out[1]}) ::close(file);
}

// ---- effect of options ----

TEST_F(Program, PrintsTheLogProbabilityOfATranslationAsItsScore) {
  const Outcome outcome = run({"translate", runs("there"), "--scores", "--beam", "3"}, {.input = kSource});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Translator translator = Translator::load(runs("there"), at::kCPU);
  TranslateOptions options;
  options.search.beam = 3;
  const auto expected = translator.translate(lines_of(kSource), options);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), expected.size());
  double penalty = 0;  // relative difference between score and log-probability
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t tab = lines[i].find('\t');
    ASSERT_NE(tab, std::string::npos) << lines[i];
    EXPECT_EQ(lines[i].substr(tab + 1), expected[i].text);
    EXPECT_NEAR(std::stod(lines[i]), expected[i].log_probability, 1e-3 * std::abs(expected[i].log_probability));
    penalty = std::max(penalty, std::abs(expected[i].score / expected[i].log_probability - 1));
  }
  EXPECT_GT(penalty, 0.1);
}

TEST_F(Program, SwapsTheLinksOfTheReverseDirection) {
  const std::string source = write("source", kSource), target = write("target", kTarget);
  const Outcome outcome =
      run({"align", runs("there"), source, target, "--reverse", runs("back"), "--symmetry", "union"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto from = lines_of(kSource), to = lines_of(kTarget);
  const auto forward = Translator::load(runs("there"), at::kCPU).score(from, to),
             backward = Translator::load(runs("back"), at::kCPU).score(to, from);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), from.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    std::set<std::pair<int64_t, int64_t>> expected, found;
    for (const auto& link : strongest_links(forward[i].weights)) expected.emplace(link.source, link.target);
    for (const auto& link : strongest_links(backward[i].weights)) expected.emplace(link.target, link.source);
    for (const auto& link : parse_links(lines[i])) found.emplace(link.source, link.target);
    EXPECT_EQ(found, expected) << lines[i];
  }
}

// A pair is linked where the product of its two weights is the largest of its target word and of its source word. So
// no word has two links, and of 5 and of 6 target words at most as many are linked as there are source words: 3 and 2.
TEST_F(Program, LinksMutuallyStrongestPairsOfTheProductOfBothDirections) {
  const std::vector<std::string> from{"Tom chases Jerry", "Mary sleeps"},
      to{"今天 汤姆 在 追逐 杰瑞", "今天 玛丽 在 花园 睡觉 老鼠"};
  const std::string source = write("source", from[0] + "\n" + from[1] + "\n"),
                    target = write("target", to[0] + "\n" + to[1] + "\n");
  const Outcome outcome =
      run({"align", runs("there"), source, target, "--reverse", runs("back"), "--symmetry", "product"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto forward = Translator::load(runs("there"), at::kCPU).score(from, to),
             backward = Translator::load(runs("back"), at::kCPU).score(to, from);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), from.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto &there = forward[i].weights, &back = backward[i].weights;  // [target][source], [source][target]
    ASSERT_GT(there.size(), back.size());
    std::set<std::pair<int64_t, int64_t>> expected, found;
    for (size_t t = 0; t < there.size(); ++t)
      for (size_t s = 0; s < back.size(); ++s) {
        const double product = there[t][s] * back[s][t];
        bool largest = product > 0;
        for (size_t other = 0; other < back.size(); ++other)
          largest = largest && (other == s || there[t][other] * back[other][t] < product);
        for (size_t other = 0; other < there.size(); ++other)
          largest = largest && (other == t || there[other][s] * back[s][other] < product);
        if (largest) expected.emplace(static_cast<int64_t>(s), static_cast<int64_t>(t));
      }
    for (const auto& link : parse_links(lines[i])) found.emplace(link.source, link.target);
    EXPECT_EQ(found, expected) << lines[i];
    EXPECT_GE(found.size(), 1U);  // the largest product of all is always such a pair
    EXPECT_LE(found.size(), back.size()) << lines[i];
  }
}

TEST_F(Program, IgnoresCaseInBleuAndChrfWithLowercase) {
  const std::string upper = write("upper", "TOM CHASES JERRY TODAY\n"),
                    lower = write("lower", "tom chases jerry today\n");
  const auto scores = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"eval", "--hypothesis", upper,       "--reference",
                                       lower,  "--metrics",    "bleu,chrf", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto all = nlohmann::json::parse(outcome.out);
    return std::pair{all["bleu"]["score"].get<double>(), all["chrf"]["score"].get<double>()};
  };
  const auto [bleu, chrf] = scores({"--lowercase"});
  EXPECT_NEAR(bleu, 100, 1e-9);
  EXPECT_NEAR(chrf, 100, 1e-9);
  const auto [other_bleu, other_chrf] = scores({});
  EXPECT_LT(other_bleu, 1);
  EXPECT_LT(other_chrf, 1);
}

// ---- commands that are printed ----

/// Lines that start with two spaces and hold a command with this program.
std::vector<std::string> commands_in(const std::string& text, const std::string& program) {
  std::vector<std::string> all;
  for (const auto& line : lines_of(text))
    if (line.rfind("  ", 0) == 0 && (line.find(program + " ") != std::string::npos || line.rfind("  echo ", 0) == 0))
      all.push_back(line.substr(2));
  return all;
}

// Runs the printed commands in a shell, in a folder with the program at bin/heed, as after `make demo`.
TEST_F(Program, PrintsCommandsThatWorkInTheCurrentFolder) {
  const std::string program = "bin/heed";
  ASSERT_EQ(::mkdir(path("bin").c_str(), 0777), 0);
  ASSERT_EQ(::symlink(HEED_PROGRAM, path(program).c_str()), 0);
  const Start start{.environment = {{"OMP_NUM_THREADS", "1"}}, .program = program};
  const auto pasted = [&](const std::string& command) {
    Start shell = start;
    shell.program = "/bin/sh";
    return Process(folder_, {"-c", command}, shell).wait();
  };
  const auto expect_that_all_work = [&](const std::string& text, size_t count) {
    const auto commands = commands_in(text, program);
    EXPECT_EQ(commands.size(), count) << text;
    for (const auto& command : commands) {
      const Outcome outcome = pasted(command);
      EXPECT_EQ(outcome.code, 0) << command << '\n' << outcome.err;
    }
  };
  const Outcome demo = Process(folder_,
                               {"demo", "train.max_steps=4", "train.schedule=constant", "data.grammar.train=200",
                                "data.grammar.test=20", "data.grammar.dev=10"},
                               start)
                           .wait();
  ASSERT_EQ(demo.code, 0) << demo.err;
  expect_that_all_work(demo.out, 4);
  EXPECT_TRUE(exists(path("map.html")) && exists(path("runs/demo/general/model.safetensors")));
  const Outcome trained =
      Process(folder_, {"train", "runs/demo/additive/recipe.yaml", "run.dir=it's mine", "train.max_steps=2"}, start)
          .wait();
  ASSERT_EQ(trained.code, 0) << trained.err;
  expect_that_all_work(trained.out, 2);
  for (const auto& [command, count] : {std::pair{"train", 1}, {"translate", 1}, {"attend", 2}, {"align", 2}})
    expect_that_all_work(Process(folder_, {command, "--help"}, start).wait().out, static_cast<size_t>(count));
  const Outcome folder = Process(folder_, {"train", "runs/demo/fixed"}, start).wait();
  const size_t cure = folder.err.find("to go on with a run: ");
  ASSERT_NE(cure, std::string::npos) << folder.err;
  EXPECT_EQ(pasted(lines_of(folder.err.substr(cure + 21)).front()).code, 0) << folder.err;
}

TEST_F(Program, NamesTheRunsOfAFolderThatHoldsThem) {
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"translate", runs(".")}, {"attend", runs("."), "--source", "Tom"}, {"train", "--resume", runs(".")}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, kFailed);
    EXPECT_TRUE(says(outcome.err, {": got a folder of 2 runs, expected one of them: ", "/back, ", "/there"}));
  }
}

TEST_F(Program, SaysWhichPathAttentionTakes) {
  const std::vector<std::string> quick{"train", runs("toy.yaml"), "train.max_steps=1", "--force", "run.dir=path"};
  EXPECT_TRUE(says(run(quick).err, {"attention: fused, kernel ", "additive x softmax\n"}));
  auto sampled = quick;
  sampled.emplace_back("model.attention=additive + reinforced");
  EXPECT_TRUE(
      says(run(sampled).err, {"attention: composed of torch operations", "no kernel for additive + reinforced"}));
}

// ---- out-of-vocabulary words ----

TEST_F(Program, ReportsUnknownWords) {
  const std::string unknown = " words are not in the vocabulary of " + runs("there") + " and are read as <unk>: ";
  const Outcome translated = run({"translate", runs("there")}, {.input = "zebra sleeps\nblorb Tom zebra\n"});
  EXPECT_EQ(translated.err, "heed: translate: 3 of 5" + unknown + "'zebra', 'blorb'\n");
  EXPECT_EQ(lines_of(translated.out).size(), 2U);
  const Outcome attended = run({"attend", runs("there"), "--source", "zebra chases blorb", "--json"});
  EXPECT_EQ(attended.err, "heed: attend: 2 of 3" + unknown + "'zebra', 'blorb'\n");
  EXPECT_EQ(nlohmann::json::parse(attended.out)["unknown_words"], (std::vector<std::string>{"zebra", "blorb"}));
  const std::string source = write("source", "Tom sleeps\n"), target = write("target", "汤姆 龍 龍\n");
  EXPECT_EQ(run({"align", runs("there"), source, target}).err, "heed: align: 2 of 5" + unknown + "'龍'\n");
  EXPECT_EQ(run({"translate", runs("there")}, {.input = "Tom sleeps\n"}).err, "");
}

TEST_F(Program, ReadsChineseWithoutSpacesByLongestMatch) {
  const Outcome together = run({"translate", runs("back")}, {.input = "汤姆追逐杰瑞\n"}),
                apart = run({"translate", runs("back")}, {.input = "汤姆 追逐 杰瑞\n"});
  EXPECT_EQ(together.out, apart.out);
  EXPECT_TRUE(says(together.err, {"read by longest match with the vocabulary: '汤姆追逐杰瑞' as '汤姆 追逐 杰瑞'"}));
  EXPECT_EQ(apart.err, "");
}

// ---- attention by layer, head and step ----

TEST_F(Program, ShowsAnyAttentionOfATransformer) {
  ASSERT_EQ(
      run({"train", runs("toy.yaml"), "--quiet", "run.dir=transformer", "train.max_steps=2",
           "model.attention=scaled_dot + softmax", "model.features={kind: transformer, num_layers: 2, num_heads: 2}",
           "model.query={kind: transformer, num_layers: 3, num_heads: 2}"})
          .code,
      0);
  const auto attend = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"attend", "transformer", "--source", "Tom chases Jerry", "--target", "汤姆 追逐 杰瑞"});
    return run(more);
  };
  const auto map = [&](std::vector<std::string> more) {
    more.emplace_back("--json");
    const Outcome outcome = attend(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["maps"][0];
  };
  const auto mean = map({}), first = map({"--head", "1"}), second = map({"--head", "2"}), step = map({"--step", "2-3"});
  EXPECT_EQ(mean["layer"], 2);
  EXPECT_EQ(mean["head"], "mean");
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(mean["weights"][i][j].get<double>(),
                  (first["weights"][i][j].get<double>() + second["weights"][i][j].get<double>()) / 2, 1e-6);
  EXPECT_EQ(step["rows"], (std::vector<std::string>{"追逐", "杰瑞"}));
  EXPECT_EQ(step["weights"][0], mean["weights"][1]);
  EXPECT_EQ(map({"--attention", "encoder"})["columns"], (std::vector<std::string>{"Tom", "chases", "Jerry", "</s>"}));
  EXPECT_EQ(map({"--attention", "decoder", "--layer", "1"})["columns"],
            (std::vector<std::string>{"<s>", "汤姆", "追逐", "杰瑞"}));
  const Outcome shown = attend({"--attention", "encoder", "--layer", "1", "--head", "2", "--html", "map.html"});
  const std::string title = "(self-attention of the encoder, layer 1 of 2, head 2 of 2)";
  EXPECT_TRUE(says(shown.out, {"Tom chases Jerry " + title, "</s>"}));
  EXPECT_TRUE(says(contents(path("map.html")), {title}));
  const Outcome picture = attend({"--png", "map.png"});
  EXPECT_EQ(exists(path("map.png")), HEED_PNG != 0) << picture.err;
  EXPECT_TRUE(says(attend({"--layer", "7"}).err, {"heed: attend: got layer 7, expected 1 to 3\n"}));
  EXPECT_TRUE(says(attend({"--head", "3"}).err, {"heed: attend: got head 3, expected 1 to 2\n"}));
  EXPECT_TRUE(says(attend({"--step", "4"}).err, {"heed: attend: got step 4, expected 1 to 3"}));
  EXPECT_EQ(attend({"--head", "0"}).code, kMisused);
  const Outcome recurrent = run({"attend", runs("there"), "--source", "Tom", "--attention", "encoder"});
  EXPECT_TRUE(says(recurrent.err, {"got the encoder's self-attention, expected cross-attention"}));
}

// ---- input ----

TEST_F(Program, TranslatesWithAByteOrderMarkAsWithout) {
  const Outcome plain = run({"translate", runs("there")}, {.input = "Tom chases Jerry\n"}),
                marked = run({"translate", runs("there")}, {.input = "\xEF\xBB\xBFTom chases Jerry\n"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.out, "\n");
  EXPECT_EQ(marked.out, plain.out);
}

TEST_F(Program, HandlesEmptyInput) {
  const Outcome translated = run({"translate", runs("there")});
  EXPECT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(translated.out, "");
  const Outcome evaluated = run({"eval", "--hypothesis", write("empty", ""), "--reference", write("a", "a\n")});
  EXPECT_EQ(evaluated.code, kFailed);
  EXPECT_TRUE(says(evaluated.err, {"/empty is empty, expected a sentence on each line"}));
}

TEST_F(Program, RefusesALineThatItWouldSpendHoursOn) {
  std::string words;
  for (int i = 0; i < 20'000; ++i) words += "Tom ";
  const std::string cure = ", expected at most 1024; break the line into sentences, or raise --max-length\n";
  const Outcome translated = run({"translate", runs("there")}, {.input = "Tom sleeps\n" + words + "\n"});
  EXPECT_EQ(translated.code, kFailed);
  EXPECT_EQ(translated.err, "heed: standard input:2: got 20000 tokens" + cure);
  EXPECT_EQ(lines_of(translated.out).size(), 1U);  // the line before it
  const std::string long_file = write("long", words + "\n"), short_file = write("short", "Tom\n");
  EXPECT_EQ(run({"align", runs("there"), short_file, long_file}).err,
            "heed: " + long_file + ":1: got 20000 tokens" + cure);
  EXPECT_EQ(run({"attend", runs("there"), "--source", words}).err, "heed: --source:1: got 20000 tokens" + cure);
  const Outcome longer =
      run({"translate", runs("there"), "--max-length", "2"}, {.input = "Tom sleeps\nTom chases Jerry\n"});
  EXPECT_TRUE(says(longer.err, {"standard input:2: got 3 tokens, expected at most 2"}));
}

// ---- resources ----

// OpenBLAS with more threads than OpenMP provides would wait for the missing ones forever.
TEST_F(Program, UsesNoMoreThreadsThanOpenMpGives) {
  const Outcome outcome =
      run_bare({"--threads", "2", "train", runs("toy.yaml"), "run.dir=wide", "model.features.dim=512",
                "model.query.state_dim=512", "train.max_steps=1", "--quiet"},
               {.environment = {{"OMP_THREAD_LIMIT", "1"}}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.err, {"heed: --threads is 2, but OpenMP gives 1"}));
}

// Threads that spin while they wait slow down a busy machine. libgomp prints the settings that it read when it was
// loaded.
TEST_F(Program, LetsWaitingTrainingThreadsSleepSoonUnlessTheUserSetsThePolicy) {
  const auto spin_count = [&](const std::string& threads,
                              std::vector<std::pair<std::string, std::string>> environment) {
    environment.emplace_back("OMP_DISPLAY_ENV", "VERBOSE");
    const Outcome outcome = run_bare(
        {"--threads", threads, "train", runs("toy.yaml"), "run.dir=spin", "train.max_steps=1", "--force", "--quiet"},
        {.environment = environment});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string label = "GOMP_SPINCOUNT = '";
    const size_t found = outcome.err.find(label);
    if (found == std::string::npos) return outcome.err;
    return outcome.err.substr(found + label.size(),
                              outcome.err.find('\'', found + label.size()) - found - label.size());
  };
  EXPECT_EQ(spin_count("2", {}), "10000");
  EXPECT_NE(spin_count("2", {{"OMP_WAIT_POLICY", "passive"}}), "10000");
  EXPECT_NE(spin_count("1", {}), "10000");
}

TEST_F(Program, TakesThreadsFromItsOptionThenFromTheEnvironment) {
  const auto threads = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_bare(arguments, {.environment = {{"OMP_NUM_THREADS", "3"}}});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["threads"].get<int>();
  };
  EXPECT_EQ(threads({"info", "--json"}), 3);
  EXPECT_EQ(threads({"--threads", "2", "info", "--json"}), 2);
}

TEST_F(Program, RefusesAModelThatDoesNotFitIntoMemory) {
  const Outcome outcome = run({"train", runs("toy.yaml"), "run.dir=huge", "model.features.dim=65536", "--quiet"},
                              {.environment = {{"HEED_MEMORY", "2G"}}});
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_TRUE(says(outcome.err, {"heed: recipe: model.features.dim is 65536, so the model would take at least ",
                                 " GB for weights, gradients and optimizer, but 2.0 GB are free; lower it"}));
  EXPECT_FALSE(exists(path("huge")));
}

// ---- without torch ----

/// The program alone in a folder, without its module and its library.
class ProgramAlone : public testing::FolderTest {
 protected:
  ProgramAlone() { EXPECT_EQ(std::system(("cp '" HEED_PROGRAM "' '" + path("heed") + "'").c_str()), 0); }

  Outcome run(const std::string& arguments) const {
    const int status = std::system(("cd '" + folder_ + "' && ./heed " + arguments + " > stdout 2> stderr").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(path("stdout")), contents(path("stderr"))};
  }
};

TEST_F(ProgramAlone, NeedsNoTorchForHelpErrorsListsAndFiles) {
  write("text", "Tom chases Jerry in the garden\n");
  struct Call {
    std::string arguments;
    int code;
    std::string said;
  };
  const std::vector<Call> all{{"--version", 0, "heed "},
                              {"--help", 0, "translate"},
                              {"train --help", 0, "--resume"},
                              {"list", 0, "additive"},
                              {"list entmax", 0, "alpha"},
                              {"list --json", 0, "\"scaled_dot\""},
                              {"eval --hypothesis text --reference text", 0, "= 100.00"},
                              {"compare", kMisused, ""},
                              {"tran", kMisused, "did you mean 'train'?"},
                              {"train", kMisused, "recipe is required"},
                              {"translate run --beam x", kMisused, "--beam: got 'x'"}};
  for (const auto& call : all) {
    const Outcome outcome = run(call.arguments);
    EXPECT_EQ(outcome.code, call.code) << call.arguments << ": " << outcome.err;
    EXPECT_TRUE(says(outcome.out + outcome.err, {call.said})) << call.arguments;
  }
}

TEST_F(ProgramAlone, SaysWhichModuleItLacks) {
  for (const std::string command : {"info", "train recipe.yaml"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, kFailed);
    EXPECT_TRUE(says(outcome.err, {"heed: " + command.substr(0, command.find(' ')) + ": got no module ",
                                   "/heed/libheed_commands.so (", "No such file", "install heed again"}));
  }
}

// The loader maps neither torch nor libheed.
TEST_F(ProgramAlone, LinksNoTorch) {
  ASSERT_EQ(std::system(("LD_TRACE_LOADED_OBJECTS=1 " HEED_PROGRAM " > '" + path("libraries") + "'").c_str()), 0);
  const std::string libraries = contents(path("libraries"));
  EXPECT_TRUE(says(libraries, {"libz"}));
  for (const char* unwanted : {"torch", "libc10", "libheed", "libgomp", "blas"})
    EXPECT_EQ(libraries.find(unwanted), std::string::npos) << libraries;
}

// ---- folders ----

TEST_F(Program, ResumesInAFolderWithAnyName) {
  ASSERT_EQ(run({"train", runs("toy.yaml"), "run.dir=exp #2", "train.max_steps=2", "--quiet"}).code, 0);
  ASSERT_TRUE(exists(path("exp #2/checkpoint.safetensors")));
  const Outcome resumed = run({"train", "--resume", "exp #2", "train.max_steps=3", "--json", "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["step"].get<int>(), 3);
  EXPECT_FALSE(exists(path("exp")));
}

// The recipe.yaml of the run of 40 steps names the original folder "there" of another directory.
TEST_F(Program, ResumesInACopiedFolder) {
  ASSERT_EQ(std::system(("cp -r '" + runs("there") + "' '" + path("moved") + "'").c_str()), 0);
  const Outcome resumed = run({"train", "--resume", "moved", "train.max_steps=41", "--json", "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto results = nlohmann::json::parse(resumed.out);
  EXPECT_EQ(results["step"].get<int>(), 41);
  EXPECT_EQ(results["run"].get<std::string>(), "moved");
  EXPECT_EQ(nlohmann::json::parse(contents(path("moved/results.json")))["step"].get<int>(), 41);
  EXPECT_FALSE(exists(path("there")));
  EXPECT_EQ(nlohmann::json::parse(contents(runs("there/results.json")))["step"].get<int>(), 40);
}

}  // namespace
}  // namespace heed::cli
