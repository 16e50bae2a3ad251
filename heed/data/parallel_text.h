// Sentences and their translations, from what people have:
//
//   two      two files, line k of one translates line k of the other; more files: source, target, source, target, ...
//   tsv      source TAB target, further columns ignored
//   |||      source ||| target
//   auto     two files are `two`; the first line of one file shows whether it is `|||` or `tsv`
//
// Every file may be gzip. What is wrong is said with file and line before anything else happens.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct TextOptions {
  std::vector<std::string> files{};
  std::string format = "auto";
  bool lowercase = false;   // case
  bool unescape = false;    // &apos; &quot; &amp; &lt; &gt; &#124; &#91; &#93; as the characters they stand for
  bool swap = false;        // translate the other way
  bool drop_empty = false;  // a pair with an empty side is left out; otherwise it is an error
  int64_t max_length = 0;   // pairs with a side of more words (between whitespace) are left out; 0: none
  /// A part of the lines: those whose md5(first side, as it stands in the file) modulo `modulo` is one of these.
  int64_t modulo = 0;
  std::vector<int64_t> keep_residues{};
};

struct ParallelText {
  std::vector<std::string> source, target;
  int64_t empty = 0, too_long = 0;  // pairs left out

  size_t size() const { return source.size(); }
  /// "train.en:17 and train.de:17"
  std::string where(size_t pair) const;

  struct LineOrigin {
    int64_t file, line;  // of files: names of what was read, "a" or "a and b"
  };
  std::vector<LineOrigin> origins;
  std::vector<std::vector<std::string>> files;
};

/// At least one pair, or an error.
ParallelText read_parallel(const TextOptions& options);

/// Moses' escapes undone, each once: &amp;lt; is &lt;.
std::string unescaped(const std::string& text);

}  // namespace heed
