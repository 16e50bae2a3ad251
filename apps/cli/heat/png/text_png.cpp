// A text with the weights of its words as PNG.

#include <algorithm>

#include "apps/cli/heat/png/canvas.h"
#include "apps/cli/heat/png/layout.h"
#include "apps/cli/heat/png/png.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr int kPageWidth = 1000;  // of the words
constexpr int kWordLetters = 18, kNumberLetters = 11, kLabelLetters = 14, kMaxLabel = 240;
constexpr int kPad = 4, kBoxHeight = kWordLetters + 2 * kPad, kLineHeight = kBoxHeight + kNumberLetters + 2 * kGap;
constexpr int kPartGap = 8;
constexpr size_t kMaxTextWords = 20'000;

/// A word with the left top corner of its box.
struct PlacedWord {
  std::string word{}, number{};
  int x = 0, y = 0, width = 0;
  double share = 0;
  bool weighted = false;
};
struct PlacedLabel {
  std::string text;
  int y = 0;
  std::optional<double> share{};
};

/// Where everything is on the page.
class TextPage {
 public:
  TextPage(const TextMap& map, Type& type) : type_(type), top_(top_weights(map)) {
    size_t words = 0;
    int labels = 0;
    for (const auto& part : map.parts) {
      words += part.words.size();
      labels = std::max(labels, type.width(shown_label(part), kLabelLetters));
    }
    check(words <= kMaxTextWords, "text map: got ", words, " words, expected at most ", kMaxTextWords,
          " for PNG; use --html, which can be scrolled");
    left_ = kEdge + (labels > 0 ? labels + 2 * kPad + 2 * kGap : 0);
    y_ = kEdge + (map.title.empty() ? 0 : kTitleLetters + 2 * kGap) + (map.remark.empty() ? 0 : kScaleLetters + kGap);
    for (const auto& part : map.parts) add(part);
    right_ = std::max({right_, left_ + kScaleWidth, kEdge + std::min(kPageWidth, type.width(map.title, kTitleLetters)),
                       kEdge + std::min(kPageWidth, type.width(map.remark, kScaleLetters)),
                       kEdge + note_width(map.note, type)});
    note_ = lines_of(map.note, type, kScaleLetters, right_ - kEdge);
    height_ = scale_top() + kScaleHeight + kScaleLetters + kGap + note_height(note_) + kEdge;
  }

  const std::vector<PlacedWord>& placed_words() const { return words_; }
  const std::vector<PlacedLabel>& labels() const { return labels_; }
  const std::vector<std::string>& note() const { return note_; }
  int width() const { return right_ + kEdge; }
  int height() const { return height_; }
  int left() const { return left_; }
  int scale_top() const { return y_ + 2 * kGap; }
  double top() const { return top_.words; }

 private:
  std::string shown_label(const TextPart& part) { return type_.fitted(label_of(part), kLabelLetters, kMaxLabel); }

  void add(const TextPart& part) {
    labels_.push_back({shown_label(part), y_, {}});
    if (part.weight) labels_.back().share = *part.weight / top_.parts;
    int x = left_;
    for (size_t i = 0; i < part.words.size(); ++i) {
      PlacedWord one{.word = type_.fitted(part.words[i], kWordLetters, kPageWidth - 2 * kPad)};
      one.weighted = !part.weights.empty();
      if (one.weighted) {
        one.number = percent_of(part.weights[i], top_.words);
        one.share = part.weights[i] / top_.words;
      }
      one.width = std::max(type_.width(one.word, kWordLetters), type_.width(one.number, kNumberLetters)) + 2 * kPad;
      if (x > left_ && x + one.width > left_ + kPageWidth) {
        x = left_;
        y_ += kLineHeight;
      }
      one.x = x;
      one.y = y_;
      x += one.width + 2;
      right_ = std::max(right_, x);
      words_.push_back(std::move(one));
    }
    y_ += kLineHeight + kPartGap;
  }

  Type& type_;
  TopWeights top_;
  int left_ = 0, right_ = 0, y_ = 0, height_ = 0;
  std::vector<PlacedWord> words_;
  std::vector<PlacedLabel> labels_;
  std::vector<std::string> note_;  // lines
};

class TextPicture {
 public:
  explicit TextPicture(const TextMap& map) : map_(map), page_(map_, type_), canvas_(page_.width(), page_.height()) {
    const int inside = page_.width() - 2 * kEdge;
    write(type_.fitted(map_.title, kTitleLetters, inside), kTitleLetters, kEdge, kEdge + kTitleLetters, kInk);
    const int above = map_.title.empty() ? 0 : kTitleLetters + kGap;
    write(type_.fitted(map_.remark, kScaleLetters, inside), kScaleLetters, kEdge, kEdge + above + kScaleLetters, kInk);
    for (const auto& label : page_.labels()) draw(label);
    for (const auto& word : page_.placed_words()) draw(word);
    draw_scale();
    int y = note_top(page_.scale_top()) + kScaleLetters;
    for (const auto& line : page_.note()) {
      write(line, kScaleLetters, kEdge, y, kInk);
      y += kScaleLetters + kGap;
    }
  }

  const Canvas& canvas() const { return canvas_; }

 private:
  void write(const std::string& text, int letters, int x, int y, const Rgb& color) {
    type_.draw(text, letters, x, y, 0, [&](int px, int py, int cover) { canvas_.blend(px, py, color, cover); });
  }
  /// A baseline that centers lower case in a box.
  static int baseline(int letters) { return kBoxHeight / 2 + letters * 35 / 100; }

  void draw(const PlacedLabel& label) {
    Rgb ink = kInk;
    if (label.share) {
      const Rgb color = heat_color(*label.share);
      canvas_.fill(kEdge, label.y, type_.width(label.text, kLabelLetters) + 2 * kPad, kBoxHeight, color);
      ink = is_bright(color) ? kInk : kPaper;
    }
    write(label.text, kLabelLetters, kEdge + kPad, label.y + baseline(kLabelLetters), ink);
  }

  void draw(const PlacedWord& word) {
    const Rgb color = word.weighted ? heat_color(word.share) : kPaper;
    canvas_.fill(word.x, word.y, word.width, kBoxHeight, color);
    write(word.word, kWordLetters, word.x + (word.width - type_.width(word.word, kWordLetters)) / 2,
          word.y + baseline(kWordLetters), is_bright(color) ? kInk : kPaper);
    write(word.number, kNumberLetters, word.x + (word.width - type_.width(word.number, kNumberLetters)) / 2,
          word.y + kBoxHeight + kNumberLetters + 2, kInk);
  }

  void draw_scale() {
    for (int x = 0; x < kScaleWidth; ++x)
      canvas_.fill(page_.left() + x, page_.scale_top(), 1, kScaleHeight, heat_color(x / (kScaleWidth - 1.0)));
    const int y = page_.scale_top() + kScaleHeight + kScaleLetters + 2;
    const auto top = percent_of(page_.top(), page_.top()) + " %";
    write("0", kScaleLetters, page_.left(), y, kInk);
    write(top, kScaleLetters, page_.left() + kScaleWidth - type_.width(top, kScaleLetters), y, kInk);
  }

  TextMap map_;
  Type type_;
  TextPage page_;
  Canvas canvas_;
};

}  // namespace

void write_png(const std::string& path, const TextMap& map) {
  check_text_map(map);
  const TextPicture picture(with_printable_text(map));
  picture.canvas().write(path);
}

}  // namespace heed::cli
