#include "apps/cli/eval_links.h"

#include "apps/cli/eval_metric/link_files.h"
#include "apps/cli/screen.h"

namespace heed::cli {
namespace {

/// The links with 1 subtracted from each word number: read as counted from 0, but counted from 1.
std::vector<Links> one_less(std::vector<Links> lines) {
  for (auto& links : lines)
    for (auto& link : links) --link.source, --link.target;
  return lines;
}

/// Prints a remark if one file has no word 0 and a better AER when read as counted from 1.
void remark_on_numbering(const EvalLinksOptions& options, const std::vector<Links>& links,
                         const std::vector<Links>& gold, double error, std::ostream& remarks) {
  const auto remark = [&](const std::string& path, const char* cure, const AlignmentError& from_one) {
    if (from_one.error < error)
      remarks << "eval: " << path << ": got links without any word 0, expected words counted from 0; counted "
              << "from 1, AER is " << fixed(100 * from_one.error, options.digits) << " % instead of "
              << fixed(100 * error, options.digits) << " %: give " << cure << '\n';
  };
  if (!options.gold_numbers.from_one && !has_word_zero(gold))
    remark(options.gold, "--gold-from-one", alignment_error(links, one_less(gold)));
  if (!options.links_numbers.from_one && !has_word_zero(links))
    remark(options.links, "--links-from-one", alignment_error(one_less(links), gold));
}

}  // namespace

AlignmentError link_errors(const EvalLinksOptions& options, FileReader& reader, std::ostream& remarks) {
  const auto lines = reader.lines(options.links, "links");
  const auto gold_lines = reader.lines_beside(options.gold, options.links, lines.size(), "links");
  const auto links = links_of_lines(options.links, lines, options.links_numbers),
             gold = links_of_lines(options.gold, gold_lines, options.gold_numbers);
  const AlignmentError found = alignment_error(links, gold);
  remark_on_numbering(options, links, gold, found.error, remarks);
  return found;
}

}  // namespace heed::cli
