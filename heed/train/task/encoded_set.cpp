#include "heed/train/task/encoded_set.h"

#include "heed/base/check.h"
#include "heed/base/scalar.h"
#include "heed/models/classify/classifier.h"

namespace heed {
namespace {

/// The class of each piece from that of each word: at the first piece of the word.
std::vector<int64_t> piece_labels(const Segmentation& sentence, const Label& label, const std::string& origin) {
  check(label.classes.size() == sentence.words.size(), origin, ": got ", label.classes.size(), " labels for ",
        sentence.words.size(), " words, expected one for each; words and labels are separated by blanks");
  std::vector<int64_t> all(sentence.ids.size(), LabelOutput::kNoLabel);
  const auto first = first_pieces(sentence);
  for (size_t word = 0; word < first.size(); ++word)
    if (first[word] >= 0) all[static_cast<size_t>(first[word])] = label.classes[word];
  return all;
}

}  // namespace

EncodedSet encoded(const TextReader& reader, const Examples& examples, const LabelSet& labels) {
  EncodedSet set;
  set.ids = reader.read_all(examples.texts, &set.cut);
  for (size_t i = 0; i < examples.size(); ++i) {
    set.labels.push_back(parse_label(labels, examples.labels[i], examples.origins[i]));
    if (labels.form != LabelForm::tokens) continue;
    const auto sentences = reader.read(examples.texts[i].front()).sentences;
    set.pieces.push_back(sentences.empty() ? std::vector<int64_t>()
                                           : piece_labels(sentences.front(), set.labels.back(), examples.origins[i]));
  }
  return set;
}

std::string described(const LeftOut& left_out, const std::string& set) {
  std::vector<std::string> reasons;
  const auto add = [&](int64_t count, const char* reason) {
    if (count > 0) reasons.push_back(std::to_string(count) + " " + reason);
  };
  add(left_out.excluded_id, "with an excluded id");
  add(left_out.ignored_label, "with an ignored label");
  add(left_out.empty_text, "without text");
  add(left_out.duplicate_phrase, "phrases that occur again with the same label");
  return reasons.empty() ? "" : "left out of " + set + ": " + joined(reasons);
}

std::vector<std::string> lines_of(const Examples& examples) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < examples.size(); ++i) {
    for (const auto& text : examples.texts[i]) lines.push_back(text);
    lines.push_back(examples.labels[i]);
  }
  return lines;
}

std::vector<std::string> lines_of(const TextSupervision::Gold& gold) {
  std::vector<std::string> lines;
  for (const auto& example : gold) {
    lines.emplace_back();
    for (const auto& one : example)
      lines.back() +=
          std::to_string(one.sentence) + ":" + std::to_string(one.token) + "=" + written_number(one.weight) + " ";
  }
  return lines;
}

}  // namespace heed
