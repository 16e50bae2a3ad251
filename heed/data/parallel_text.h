// Reads sentences and their translations. Formats:
//
//   two      two files, line k of one translates line k of the other; more files: source, target, source, target, ...
//   tsv      source TAB target, further columns ignored
//   |||      source ||| target
//   auto     two files are `two`; the first line of one file shows whether it is `|||` or `tsv`
//
// Every file may be gzip. All files are checked before use; an Error names file and line.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct TextOptions {
  std::vector<std::string> files{};
  std::string format = "auto";
  bool lowercase = false;   // convert to lower case
  bool unescape = false;    // &apos; &quot; &amp; &lt; &gt; &#124; &#91; &#93; become characters
  bool swap = false;        // exchange source and target
  bool drop_empty = false;  // leave out pairs with an empty side; otherwise they are an Error
  int64_t max_length = 0;   // leave out pairs with more words (split at whitespace) on a side; 0: no limit
  /// Keep only pairs whose md5(first side, as in the file) modulo `modulo` is in keep_residues; 0: keep all pairs.
  int64_t modulo = 0;
  std::vector<int64_t> keep_residues{};
};

struct ParallelText {
  std::vector<std::string> source, target;
  int64_t empty = 0, too_long = 0;  // numbers of pairs left out

  size_t size() const { return source.size(); }
  /// Origin of a pair: "train.en:17 and train.de:17".
  std::string where(size_t pair) const;

  struct LineOrigin {
    int64_t file, line;  // index into `files`; line from 1
  };
  std::vector<LineOrigin> origins;
  std::vector<std::vector<std::string>> files;  // the file or pair of files of each read
};

/// Reads all files; an Error if no pair is left.
ParallelText read_parallel(const TextOptions& options);

/// Undoes the escapes of Moses, in one pass: &amp;lt; becomes &lt;.
std::string unescaped(const std::string& text);

}  // namespace heed
