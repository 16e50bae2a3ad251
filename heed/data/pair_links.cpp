#include "heed/data/pair_links.h"

#include "heed/base/check.h"
#include "heed/base/scalar.h"
#include "heed/data/file.h"
#include "heed/data/text_file.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {
namespace {

/// The lines of links of one file of the text, and the file that has them.
struct LinkLines {
  std::string file;
  std::vector<std::string> lines;
};

/// The number of a column, from 1; 0: `from` has files.
int64_t column_of(const std::vector<std::string>& from) {
  int64_t column = 0;
  return from.size() == 1 && read_integer(from[0], column) && column > 0 ? column : 0;
}

LinkLines lines_in_column(const std::vector<std::string>& files, int64_t column) {
  check(files.size() == 1 && column > 2, "data/pair_links: got column ", column, " of ", joined(files),
        " for links, expected 3 or more of one TSV file with both sides; or name a file of links");
  LinkLines all{files.front(), {}};
  for (const auto& line : read_lines(files.front())) {
    const auto fields = fields_of(line, '\t');
    check(std::ssize(fields) >= column, "data/pair_links: ", files.front(), ":", all.lines.size() + 1, ": got ",
          fields.size(), " columns, expected links in column ", column);
    all.lines.push_back(fields[static_cast<size_t>(column) - 1]);
  }
  return all;
}

LinkLines lines_in_file(const std::vector<std::string>& files, const std::string& path) {
  LinkLines all{path, read_lines(path)};
  const size_t expected = read_lines(files.front()).size();
  check(all.lines.size() == expected, "data/pair_links: ", path, " has ", all.lines.size(), " lines, ", files.front(),
        " ", expected, "; expected one line of links for each pair");
  return all;
}

/// Whether a link uses the number of words of a side as an index: the last word if indices start at 1.
bool reach_past_the_end(const ParallelText& text, const std::vector<Links>& links) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto source = std::ssize(whitespace_words(text.source[i])),
               target = std::ssize(whitespace_words(text.target[i]));
    for (const Link& link : links[i])  // one word may be a line of Chinese, whose links are between characters
      if ((source > 1 && link.source == source) || (target > 1 && link.target == target)) return true;
  }
  return false;
}

}  // namespace

PairLinks read_pair_links(const ParallelText& text, const std::vector<std::string>& from,
                          const PairLinkOptions& options) {
  const int64_t column = column_of(from);
  check(column > 0 || from.size() == text.files.size(), "data/pair_links: got ", from.size(), " files of links (",
        joined(from), ") for ", text.files.size(), " of text, expected one for each");
  std::vector<LinkLines> files;
  for (size_t f = 0; f < text.files.size(); ++f)
    files.push_back(column > 0 ? lines_in_column(text.files[f], column)
                               : lines_in_file(text.files[f], below_folder(options.root, from[f])));
  PairLinks all;
  for (const auto& origin : text.origins) {
    const LinkLines& file = files[static_cast<size_t>(origin.file)];
    all.origins.push_back(file.file + ":" + std::to_string(origin.line));
    try {
      Links links = parse_links(file.lines[static_cast<size_t>(origin.line) - 1], {.from_one = options.from_one});
      all.links.push_back(options.swap ? swapped(std::move(links)) : std::move(links));
    } catch (const Error& error) {
      fail("data/pair_links: ", all.origins.back(), ": ", error.what());
    }
  }
  check(options.from_one || has_word_zero(all.links) || !reach_past_the_end(text, all.links),
        "data/pair_links: ", files.front().file,
        ": got no word 0, and links to the word after the last one, expected words counted from 0; ",
        "they are counted from 1: set data.links_from_one: true");
  return all;
}

void check_links(const Links& links, size_t source_words, size_t target_words, const std::string& origin) {
  for (const Link& link : links)
    check(link.source < static_cast<int64_t>(source_words) && link.target < static_cast<int64_t>(target_words),
          "data/pair_links: ", origin, ": got the link ", pharaoh({link}), ", expected source words 0 to ",
          static_cast<int64_t>(source_words) - 1, " and target words 0 to ", static_cast<int64_t>(target_words) - 1,
          "; correct the link");
}

}  // namespace heed
