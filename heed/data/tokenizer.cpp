#include "heed/data/tokenizer.h"

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/tokenizer/json.h"

namespace heed {
namespace {

constexpr size_t kMostKnownWords = 1U << 18U, kLongestKnownWord = 100;

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

std::vector<Merger::Symbol> Tokenizer::symbols(const std::string& word) const {
  if (spec_.model == TokenizerSpec::Model::words) return {{id(word), 0, word.size()}};
  return merger_.symbols(word);
}

std::vector<int64_t> Tokenizer::encode_word(const std::string& word) const {
  const bool short_enough = word.size() <= kLongestKnownWord;
  if (short_enough) {
    const std::lock_guard lock(mutex_);
    const auto found = known_words_.find(word);
    if (found != known_words_.end()) return found->second;
  }
  std::vector<int64_t> ids;
  for (const auto& symbol : symbols(word)) ids.push_back(symbol.piece);
  if (short_enough) {
    const std::lock_guard lock(mutex_);
    if (known_words_.size() >= kMostKnownWords) known_words_.clear();
    known_words_.emplace(word, ids);
  }
  return ids;
}

std::vector<int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  for (const Chunk& chunk : chunks(text, spec_.normalise, spec_.split)) {
    if (chunk.special >= 0) {
      ids.push_back(chunk.special);
    } else {
      const auto pieces = encode_word(chunk.text);
      ids.insert(ids.end(), pieces.begin(), pieces.end());
    }
  }
  return ids;
}

Cut Tokenizer::cut(std::string_view text) const {
  Cut cut;
  for (const Chunk& chunk : chunks(text, spec_.normalise, spec_.split)) {
    const auto found =
        chunk.special >= 0 ? std::vector<Merger::Symbol>{{chunk.special, 0, chunk.text.size()}} : symbols(chunk.text);
    for (const auto& symbol : found) {
      const size_t word = spec_.split ? static_cast<size_t>(chunk.word) : cut.words.size();
      cut.ids.push_back(symbol.piece);
      cut.word.push_back(static_cast<int64_t>(word));
      if (word == cut.words.size()) cut.words.emplace_back();
      cut.words[word] += chunk.text.substr(symbol.begin, symbol.bytes);
    }
  }
  return cut;
}

std::vector<std::string> Tokenizer::written(const std::vector<int64_t>& ids, bool with_special) const {
  std::vector<std::string> texts;
  size_t last = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string& text = piece(ids[i]);
    const bool left_out = is_special(ids[i]) && !with_special;
    if (!left_out) last = i;
    texts.push_back(left_out ? "" : text);
  }
  for (size_t i = 0; i < texts.size() && i <= last; ++i) {
    if (spec_.decoder == TokenizerSpec::Decoder::none) {
      if (!texts[i].empty() && i < last) texts[i] += " ";
    } else if (spec_.decoder == TokenizerSpec::Decoder::bpe && i == last) {
      texts[i] = Replacement{spec_.decode.from, ""}(texts[i]);  // no blank behind the last word
    } else {
      texts[i] = spec_.decode(texts[i]);
    }
  }
  return texts;
}

std::string Tokenizer::decode(const std::vector<int64_t>& ids, bool with_special) const {
  return joined(written(ids, with_special), "");
}

Cut Tokenizer::cut(const std::vector<int64_t>& ids, bool with_special) const {
  Cut cut;
  cut.ids = ids;
  bool inside = false;  // of the last word
  for (const auto& text : written(ids, with_special)) {
    int64_t word = -1;
    if (!spec_.split && !text.empty()) {
      cut.words.push_back(text);
      word = static_cast<int64_t>(cut.words.size()) - 1;
    }
    for (size_t i = 0; spec_.split && i < text.size(); ++i) {
      const bool blank = text[i] == ' ';
      if (!blank && !inside) cut.words.emplace_back();
      if (!blank) cut.words.back() += text[i];
      if (!blank && word < 0) word = static_cast<int64_t>(cut.words.size()) - 1;
      inside = !blank;
    }
    cut.word.push_back(word);
  }
  return cut;
}

const std::string& Tokenizer::piece(int64_t id) const {
  check(id >= 0 && id < size(), "data/tokenizer: piece ", id, " came, expected 0 to ", size() - 1);
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

std::shared_ptr<const Tokenizer> train_tokenizer(const std::string& words, const std::vector<std::string>& lines) {
  return std::make_shared<const Tokenizer>(Catalogue<TokenizerTrainer>::make(words)->learn(lines));
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return std::make_shared<const Tokenizer>(parse_tokenizer_json(read_file(path), path));
}

}  // namespace heed
