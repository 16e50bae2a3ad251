// heed translate: translates the lines of standard input as they arrive.

#include <fstream>
#include <iostream>
#include <memory>
#include <unistd.h>

#include "apps/cli/line_reader.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/device.h"
#include "apps/cli/torch/lengths.h"
#include "apps/cli/torch/vocabulary_report.h"
#include "apps/cli/translate_options.h"

#include "heed/models/translate/translator.h"

namespace heed::cli {
namespace {

class LinksFile {
 public:
  explicit LinksFile(const std::string& path) : path_(path), file_(path) {
    check(file_.good(), "translate: ", path, " cannot be written");
  }
  void write(const Translation& translation) {
    file_ << pharaoh(strongest_links(translation.weights)) << '\n' << std::flush;
    check(file_.good(), "translate: ", path_, " could not be written completely");
  }

 private:
  std::string path_;
  std::ofstream file_;
};

void run_translate(const TranslateArguments& a) {
  const at::Device device = device_of(a.device);
  Translator translator = Translator::load(a.run, device);
  TranslateOptions options;
  options.search.beam = a.beam;
  options.search.length_penalty = a.length_penalty;
  options.search.normalization = length_normalization(a.length_normalization);
  options.search.weights = !a.align.empty();
  check(a.align.empty() || translator.model().aligns(), "translate: --align, but the model in ", a.run,
        " has no attention, so it cannot align words; expected a model with attention");
  std::unique_ptr<LinksFile> links;
  if (!a.align.empty()) links = std::make_unique<LinksFile>(a.align);
  // Links number the words as given, so with --align no word is segmented.
  VocabularyReport vocabulary("translate", a.run,
                              links ? VocabularyReport::Unspaced::kept : VocabularyReport::Unspaced::segmented);
  LineReader reader(STDIN_FILENO);
  const int64_t at_once = lines_at_once(a.lines, device);
  for (auto lines = reader.some(at_once); !lines.empty(); lines = reader.some(at_once)) {
    const int64_t first = reader.lines() - static_cast<int64_t>(lines.size()) + 1;
    const auto read = vocabulary.read_source(translator, lines);
    for (const auto& translation : translator.translate(lines_within(translator, read, a.max_length), options)) {
      if (a.scores) std::cout << translation.log_probability << '\t';
      std::cout << translation.text << '\n';
      if (links) links->write(translation);
    }
    std::cout.flush();
    check(std::cout.good(), "translate: the output could not be written completely");
    check_source_lengths(translator, read, {"standard input", first}, a.max_length);
  }
  vocabulary.print(std::cerr);
}

const Body translate_body{"translate", run_translate};

}  // namespace
}  // namespace heed::cli
