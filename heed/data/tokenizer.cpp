#include "heed/data/tokenizer.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/data/file.h"
#include "heed/data/tokenizer/json.h"

namespace heed {
namespace {

constexpr size_t kMaxKnownWords = 1U << 18U, kLongestKnownWord = 100;

PieceNumbers numbered(const std::vector<std::string>& pieces) {
  PieceNumbers numbers;
  numbers.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) numbers.emplace(pieces[i], static_cast<int64_t>(i));
  return numbers;
}

}  // namespace

Tokenizer::Tokenizer(TokenizerSpec spec)
    : spec_(std::move(spec)),
      numbers_(numbered(spec_.pieces)),
      merger_(numbers_, spec_.merges, spec_.end_of_word, kUnknown) {}

Tokenizer::Symbols Tokenizer::symbols(const std::string& word) const {
  if (spec_.model == TokenizerSpec::Model::words) return {{id(word), 0, word.size()}};
  return merger_.symbols(word);
}

Tokenizer::Symbols Tokenizer::remembered_symbols(const std::string& word) const {
  if (word.size() > kLongestKnownWord) return symbols(word);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_words_.find(word);
    if (found != known_words_.end()) return found->second;
  }
  Symbols made = symbols(word);
  const std::lock_guard lock(mutex_);
  if (known_words_.size() >= kMaxKnownWords) known_words_.clear();
  known_words_.emplace(word, made);
  return made;
}

template <typename Visit>
void Tokenizer::visit_pieces(std::string_view text, const Visit& visit) const {
  for (const Chunk& chunk : chunks(text, spec_.normalize, spec_.split)) {
    if (chunk.special >= 0) {
      visit(chunk.special, chunk.word, chunk.text);
      continue;
    }
    for (const auto& [piece, begin, bytes] : remembered_symbols(chunk.text))
      visit(piece, chunk.word_of(begin, bytes), chunk.text.substr(begin, bytes));
  }
}

std::vector<int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  visit_pieces(text, [&](int64_t piece, int64_t, const std::string&) { ids.push_back(piece); });
  return ids;
}

Segmentation Tokenizer::segment(std::string_view text) const {
  Segmentation segmentation;
  std::vector<std::string> pieces;
  visit_pieces(text, [&](int64_t piece, int64_t word, const std::string& characters) {
    segmentation.ids.push_back(piece);
    segmentation.word.push_back(word);
    pieces.push_back(characters);
  });
  segmentation.text = text;
  add_words(segmentation, pieces);
  return segmentation;
}

void Tokenizer::add_words(Segmentation& segmentation, const std::vector<std::string>& pieces) const {
  segmentation.words = whitespace_words(segmentation.text);
  const auto unspaced = [](const std::string& word) {
    const auto characters = decoded(word);
    return std::any_of(characters.begin(), characters.end(), is_unspaced);
  };
  if (spec_.split == TokenizerSpec::Split::none && segmentation.words.size() == 1 && unspaced(segmentation.words[0])) {
    segmentation.words.clear();
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (segmentation.word[i] < 0) continue;
      segmentation.word[i] = static_cast<int64_t>(segmentation.words.size());
      segmentation.words.push_back(pieces[i]);
    }
  }
  int64_t after = static_cast<int64_t>(segmentation.words.size()) - 1;
  for (size_t i = pieces.size(); i-- > 0;) {
    if (segmentation.word[i] >= 0)
      after = segmentation.word[i];
    else if (!pieces[i].empty())
      segmentation.word[i] = after;
  }
}

std::vector<std::string> Tokenizer::written(const std::vector<int64_t>& ids, Shown shown) const {
  const auto left_out = [&](int64_t id) {
    return is_special(id) && (shown == Shown::no_special || (shown == Shown::unknown && id != kUnknown));
  };
  std::vector<std::string> texts;
  size_t last = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string& text = piece(ids[i]);
    if (!left_out(ids[i])) last = i;
    texts.push_back(left_out(ids[i]) ? "" : text);
  }
  for (size_t i = 0; i < texts.size() && i <= last; ++i) {
    if (spec_.decoder == TokenizerSpec::Decoder::none) {
      if (!texts[i].empty() && i < last) texts[i] += " ";
    } else if (spec_.decoder == TokenizerSpec::Decoder::bpe && i == last) {
      texts[i] = Replacement{spec_.decode.from, ""}(texts[i]);  // no space after the last word
    } else {
      texts[i] = spec_.decode(texts[i]);
      const bool ends_word = spec_.decoder == TokenizerSpec::Decoder::bpe && shown == Shown::unknown;
      if (ends_word && ids[i] == kUnknown) texts[i] += " ";
    }
  }
  return texts;
}

std::string Tokenizer::decode(const std::vector<int64_t>& ids, bool with_special) const {
  return joined(written(ids, with_special ? Shown::all : Shown::no_special), "");
}

Segmentation Tokenizer::segment(const std::vector<int64_t>& ids) const {
  Segmentation segmentation;
  segmentation.ids = ids;
  const auto pieces = written(ids, Shown::unknown);
  WordCounter counter;
  for (const auto& text : pieces) {
    int64_t word = -1;
    for (const char32_t c : decoded(text)) {
      const int64_t next = counter.next(c);
      if (word < 0) word = next;
    }
    segmentation.word.push_back(word);
  }
  segmentation.text = joined(pieces, "");
  add_words(segmentation, pieces);
  return segmentation;
}

const std::string& Tokenizer::piece(int64_t id) const {
  check(id >= 0 && id < size(), "data/tokenizer: got piece ", id, ", expected 0 to ", size() - 1);
  return spec_.pieces[static_cast<size_t>(id)];
}

int64_t Tokenizer::id(const std::string& piece) const {
  const auto found = numbers_.find(piece);
  return found == numbers_.end() ? kUnknown : found->second;
}

std::string Tokenizer::json() const {
  return tokenizer_json(spec_);
}

void Tokenizer::save(const std::string& path) const {
  write_atomically(path, json());
}

std::shared_ptr<const Tokenizer> train_tokenizer(const std::string& spec, const std::vector<std::string>& lines) {
  return std::make_shared<const Tokenizer>(Catalogue<TokenizerTrainer>::make(spec)->learn(lines));
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return std::make_shared<const Tokenizer>(parse_tokenizer_json(read_file(path), path));
}

}  // namespace heed
