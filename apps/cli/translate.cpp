// heed translate: lines in, translations out, as they come.

#include <fstream>
#include <iostream>
#include <memory>
#include <unistd.h>

#include "apps/cli/command.h"
#include "apps/cli/device.h"
#include "apps/cli/lengths.h"
#include "apps/cli/line_reader.h"

#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

struct Arguments {
  std::string run, align, device = "auto";
  TranslateOptions options;
  int64_t lines = 64, max_length = kMaxTokens;
  bool scores = false;
};

class LinksFile {
 public:
  explicit LinksFile(const std::string& path) : path_(path), file_(path) {
    check(file_.good(), "translate: ", path, " cannot be written");
  }
  void write(const Translation& translation) {
    file_ << pharaoh(strongest_links(translation.weights)) << '\n' << std::flush;
    check(file_.good(), "translate: ", path_, " could not be written in whole");
  }

 private:
  std::string path_;
  std::ofstream file_;
};

void run(const Arguments& a) {
  Translator translator = Translator::load(a.run, device_of(a.device));
  TranslateOptions options = a.options;
  options.search.weights = !a.align.empty();
  check(a.align.empty() || translator.model().aligns(), "translate: --align, but the model in ", a.run,
        " has one context for all words, so it aligns none");
  std::unique_ptr<LinksFile> links;
  if (!a.align.empty()) links = std::make_unique<LinksFile>(a.align);
  LineReader reader(STDIN_FILENO);
  for (auto lines = reader.some(a.lines); !lines.empty(); lines = reader.some(a.lines)) {
    const int64_t first = reader.lines() - static_cast<int64_t>(lines.size()) + 1;
    const auto fine = lines_within(translator, lines, a.max_length);
    for (const auto& translation : translator.translate(fine, options)) {
      if (a.scores) std::cout << translation.log_probability << '\t';
      std::cout << translation.text << '\n';
      if (links) links->write(translation);
    }
    std::cout.flush();
    check(std::cout.good(), "translate: the output could not be written in whole");
    check_source_lengths(translator, lines, {"standard input", first}, a.max_length);
  }
}

void add_translate(CLI::App& app) {
  auto* command = app.add_subcommand("translate", "Translate lines: heed translate runs/demo < source > target");
  auto a = std::make_shared<Arguments>();
  a->options.search.beam = 5;
  command->add_option("run", a->run, "A folder that heed train made")->required();
  command->add_option("--beam", a->options.search.beam, "Hypotheses at once; 1 is greedy")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--length-penalty", a->options.search.length_penalty,
                   "alpha in log p / ((5 + length) / 6)^alpha; 0 prefers short ones")
      ->check(finite_number(0, 10))
      ->capture_default_str();
  command->add_option("--align", a->align, "Write links beside, one Pharaoh line for each translation, to this file");
  command->add_option("--lines", a->lines, "Translated together at most")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  command->add_flag("--scores", a->scores, "The log-probability before each translation");
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run(*a); });
}

const Command translate_command{30, add_translate};

}  // namespace
}  // namespace heed::cli
