// Prints a text with the weights of its words on a terminal.

#include <algorithm>

#include "apps/cli/explain/terminal.h"
#include "apps/cli/heat/text_map.h"

namespace heed::cli {
namespace {

constexpr int kIndent = 2, kMinWidth = 24;

/// Two lines that grow together: words, and percentages below them.
class WordLines {
 public:
  WordLines(std::ostream& out, int left, int columns) : out_(out), left_(left), columns_(columns) {}

  /// label: before the first line. shown: the same with colors.
  void begin(const std::string& label, const std::string& shown) {
    words_ = shown + std::string(static_cast<size_t>(std::max(0, left_ - display_width(label))), ' ');
    numbers_ = std::string(static_cast<size_t>(left_), ' ');
    used_ = left_;
  }
  void add(const std::string& word, const std::string& shown, const std::string& number) {
    const int width = std::max(display_width(word), display_width(number));
    if (used_ > left_ && used_ + width > columns_) {
      flush();
      begin("", "");
    }
    words_ += shown + std::string(static_cast<size_t>(width - display_width(word) + 1), ' ');
    numbers_ += padded(number, width + 1);
    used_ += width + 1;
  }
  void flush() {
    for (const auto* line : {&words_, &numbers_})
      if (const size_t last = line->find_last_not_of(' '); last != std::string::npos)
        out_ << line->substr(0, last + 1) << '\n';
  }

 private:
  std::ostream& out_;
  int left_, columns_, used_ = 0;
  std::string words_, numbers_;
};

}  // namespace

void print_text_map(std::ostream& out, const TextMap& given, Colors colors, int columns) {
  check_text_map(given);
  const TextMap map = with_printable_text(given);
  columns = std::max(columns, kMinWidth);
  const TopWeights top = top_weights(map);
  if (const auto title = titled(map); !title.empty()) out << title << '\n';
  int widest = 0;
  for (const auto& part : map.parts) widest = std::max(widest, display_width(label_of(part)));
  const int label_width = std::min(widest, columns / 3), left = kIndent + (widest > 0 ? label_width + 2 : 0);
  for (const auto& part : map.parts) {
    const auto label = shortened(label_of(part), label_width);
    const std::string margin(kIndent, ' ');
    WordLines lines(out, left, columns);
    lines.begin(margin + label, margin + (part.weight ? tinted(label, *part.weight / top.parts, colors) : label));
    if (part.words.empty()) lines.add("(no words)", "(no words)", "");
    for (size_t i = 0; i < part.words.size(); ++i) {
      const auto word = shortened(part.words[i], columns - left);
      if (part.weights.empty())
        lines.add(word, word, "");
      else
        lines.add(word, tinted(word, part.weights[i] / top.words, colors), percent_of(part.weights[i], top.words));
    }
    lines.flush();
  }
  if (!map.note.empty()) out << wrapped(map.note, columns, std::string(kIndent, ' ')) << '\n';
}

}  // namespace heed::cli
