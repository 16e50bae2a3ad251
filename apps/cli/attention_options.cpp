#include "apps/cli/attention_options.h"

#include "apps/cli/command.h"

namespace heed::cli {

CLI::Option* add_attention_options(CLI::App& command, EvalAttentionArguments& a) {
  auto* gold = command.add_option("--attention", a.table.file,
                                  "Gold for the attention of the run: a table of weights of words (classifiers), or "
                                  "Pharaoh links of the set (translators)");
  const std::vector<CLI::Option*> more{
      command.add_option("--set", a.set, "The set whose texts the gold belongs to, unless it has its own")
          ->check(CLI::IsMember({"dev", "test"}))
          ->capture_default_str(),
      command.add_option("--id-column", a.table.id_column, "Column of ids or line numbers, by name or from 1")
          ->capture_default_str(),
      command.add_option("--text-column", a.table.text_column, "Column of texts, or with --word-rows of words"),
      command.add_option("--gold-column", a.table.gold_column, "Column of weights; default: the last"),
      command.add_flag("--word-rows", a.table.word_rows, "A record is a word; those with the same id are a text"),
      command.add_option("--strip-suffix", a.table.strip_suffix, "Remove this from the end of a word: '<EOS>'"),
      command
          .add_option("--relevant-above", a.relevant_above,
                      "Words with more gold weight are a rationale; default: those with 1 if all have 0 or 1")
          ->check(finite_number(-1e300, 1e300)),
      command
          .add_option("--controls", a.controls,
                      "Controls of the partial correlation: length of a word, frequency in the training text, or none")
          ->delimiter(',')
          ->check(CLI::IsMember({"length", "frequency", "none"}))
          ->capture_default_str(),
      command.add_option("--agree", a.agree, "Other runs (seeds), whose attention is compared with that of the run"),
      command.add_option("--reverse", a.reverse, "Run of a translator in the other direction, for links of both"),
      command.add_flag("--attention-from-one", a.links_from_one, "Gold links count words from 1"),
      command.add_flag("--attention-swapped", a.swapped, "Gold links are target-source"),
      command.add_option("--overlap-words", a.overlap_words, "Largest weights whose overlap is agreement")
          ->check(whole_number(1, 1 << 20))
          ->capture_default_str()};
  for (auto* option : more) option->needs(gold)->group("Attention");
  gold->group("Attention");
  return gold;
}

}  // namespace heed::cli
