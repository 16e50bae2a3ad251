#include "heed/data/parallel_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/base/nearest.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

constexpr std::string_view kBars = "|||";

using Sides = std::pair<std::string, std::string>;

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  bool inside = false;
  for (const char32_t c : decoded(text)) {
    const bool space = is_whitespace(c);
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Sides split_tabs(const std::string& line, const std::string& where) {
  const size_t tab = line.find('\t');
  check(tab != std::string::npos, where, ": no TAB in the line, expected source TAB target");
  return {line.substr(0, tab), line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1)};
}

Sides split_bars(const std::string& line, const std::string& where) {
  const size_t bars = line.find(kBars), after = bars + kBars.size();
  check(bars != std::string::npos, where, ": no ||| in the line, expected source ||| target");
  check(line.find(kBars, after) == std::string::npos, where, ": more than one ||| in the line, expected one");
  const std::string_view text = line;
  return {std::string(trimmed(text.substr(0, bars))), std::string(trimmed(text.substr(after)))};
}

std::string format_of(const TextOptions& options) {
  static const std::vector<std::string> known = {"auto", "two", "tsv", "|||"};
  check(std::find(known.begin(), known.end(), options.format) != known.end(), "data/parallel_text: got format '",
        options.format, "', expected one of ", joined(known), suggestion(options.format, known));
  const size_t files = options.files.size();
  check(files > 0, "data/parallel_text: got no files, expected two of text, or one with both sides");
  if (options.format == "two") {
    check(files % 2 == 0, "data/parallel_text: got ", files, " files (", joined(options.files),
          "), expected source, target, source, target, ...");
  }
  check(options.format != "auto" || files <= 2, "data/parallel_text: got ", files, " files (", joined(options.files),
        ") without their format, expected format two, tsv or |||");
  return options.format == "auto" && files == 2 ? "two" : options.format;
}

void check_residues(const TextOptions& options) {
  check(options.max_length >= 0, "data/parallel_text: got max_length ", options.max_length,
        ", expected 0 or more words");
  check(options.modulo >= 0, "data/parallel_text: modulo is ", options.modulo, ", expected 0 or more");
  check(options.modulo > 0 || options.keep_residues.empty(),
        "data/parallel_text: got residues to keep without the number to divide by, expected modulo");
  check(options.modulo == 0 || !options.keep_residues.empty(), "data/parallel_text: modulo ", options.modulo,
        " without the residues to keep");
  for (const int64_t residue : options.keep_residues) {
    check(residue >= 0 && residue < options.modulo, "data/parallel_text: got residue ", residue, ", expected 0 to ",
          options.modulo - 1, " with modulo ", options.modulo);
  }
}

/// Collects the pairs of all files and applies the same checks to each.
class PairReader {
 public:
  explicit PairReader(const TextOptions& options) : options_(options) {}

  ParallelText read() {
    const std::string format = format_of(options_);
    check_residues(options_);
    const auto& files = options_.files;
    for (size_t i = 0; i < files.size(); i += format == "two" ? 2 : 1) {
      format == "two" ? read_two(files[i], files[i + 1]) : read_one(files[i], format);
    }
    check(text_.size() > 0, "data/parallel_text: ", joined(files), ": of ", seen_, " pairs none is left (", text_.empty,
          " with an empty side, ", text_.too_long, " too long, the others not among the residues)");
    return std::move(text_);
  }

 private:
  void read_two(const std::string& first, const std::string& second) {
    auto left = read_lines(first), right = read_lines(second);
    check(left.size() == right.size(), "data/parallel_text: ", first, " has ", left.size(), " lines and ", second, " ",
          right.size(), ", expected equal numbers; line ", std::min(left.size(), right.size()) + 1, " of ",
          left.size() > right.size() ? first : second, " has no partner");
    text_.files.push_back({first, second});
    for (size_t i = 0; i < left.size(); ++i) add({std::move(left[i]), std::move(right[i])}, i);
  }

  void read_one(const std::string& path, std::string format) {
    const auto lines = read_lines(path);
    text_.files.push_back({path});
    if (format == "auto") {
      const bool bars = lines.front().find(kBars) != std::string::npos;
      check(bars || lines.front().find('\t') != std::string::npos, location(0),
            ": neither ||| nor a TAB in the line, expected source ||| target or source TAB target; or name two files");
      format = bars ? "|||" : "tsv";
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      add(format == "tsv" ? split_tabs(lines[i], location(i)) : split_bars(lines[i], location(i)), i);
    }
  }

  std::string location(size_t line) const {
    return "data/parallel_text: " + text_.files.back().front() + ":" + std::to_string(line + 1);
  }

  void add(Sides sides, size_t line) {
    ++seen_;
    const int64_t words = count_words(sides.first), partners = count_words(sides.second);
    if (words == 0 || partners == 0) {
      const auto& files = text_.files.back();
      check(options_.drop_empty, "data/parallel_text: ", words == 0 ? files.front() : files.back(), ":", line + 1,
            ": the ", words == 0 ? "first" : "second",
            " side is empty, expected a sentence on both; correct the file, or leave such pairs out (drop_empty)");
      ++text_.empty;
      return;
    }
    if (!among_residues(sides.first)) return;
    if (options_.max_length > 0 && std::max(words, partners) > options_.max_length) {
      ++text_.too_long;
      return;
    }
    if (options_.swap) std::swap(sides.first, sides.second);
    text_.source.push_back(changed(std::move(sides.first)));
    text_.target.push_back(changed(std::move(sides.second)));
    text_.origins.push_back({static_cast<int64_t>(text_.files.size()) - 1, static_cast<int64_t>(line) + 1});
  }

  bool among_residues(const std::string& side) const {
    if (options_.modulo == 0) return true;
    const auto rest = static_cast<int64_t>(md5_modulo(side, static_cast<uint64_t>(options_.modulo)));
    const auto& kept = options_.keep_residues;
    return std::find(kept.begin(), kept.end(), rest) != kept.end();
  }

  std::string changed(std::string text) const {
    if (options_.unescape) text = unescaped(text);
    return options_.lowercase ? lowered(text) : text;
  }

  const TextOptions& options_;
  ParallelText text_;
  int64_t seen_ = 0;
};

}  // namespace

std::string ParallelText::where(size_t pair) const {
  const LineOrigin& origin = origins.at(pair);
  std::vector<std::string> lines;
  for (const auto& file : files.at(static_cast<size_t>(origin.file))) {
    lines.push_back(file + ":" + std::to_string(origin.line));
  }
  return joined(lines, " and ");
}

ParallelText read_parallel(const TextOptions& options) {
  return PairReader(options).read();
}

std::string unescaped(const std::string& text) {
  static const std::vector<std::pair<std::string_view, char>> entities = {
      {"&apos;", '\''}, {"&quot;", '"'}, {"&amp;", '&'}, {"&lt;", '<'},
      {"&gt;", '>'},    {"&#124;", '|'}, {"&#91;", '['}, {"&#93;", ']'}};
  std::string plain;
  plain.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto found = std::find_if(entities.begin(), entities.end(), [&](const auto& entity) {
      return text[at] == '&' && text.compare(at, entity.first.size(), entity.first) == 0;
    });
    plain += found == entities.end() ? text[at] : found->second;
    at += found == entities.end() ? 1 : found->first.size();
  }
  return plain;
}

}  // namespace heed
