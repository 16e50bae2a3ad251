#include "heed/data/tokenizer/merger.h"

#include <functional>
#include <queue>
#include <tuple>

#include "heed/base/utf8.h"

namespace heed {
namespace {

uint64_t key_of(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32U | static_cast<uint64_t>(right);
}

}  // namespace

Merger::Merger(const PieceNumbers& numbers, const TokenizerSpec::Merges& merges, std::string end_of_word,
               int64_t unknown)
    : numbers_(numbers), end_of_word_(std::move(end_of_word)), unknown_(unknown) {
  merges_.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    merges_[key_of(numbers.at(left), numbers.at(right))] = {rank, numbers.at(left + right)};
  }
}

const Merger::Merge* Merger::merge_of(int64_t left, int64_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<Merger::Symbol> Merger::characters(std::string_view word) const {
  std::vector<Symbol> symbols;
  const std::u32string letters = decoded(word);
  size_t begin = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    const std::string letter = encoded(letters[i]);
    const auto found = numbers_.find(i + 1 == letters.size() ? letter + end_of_word_ : letter);
    symbols.push_back({found == numbers_.end() ? unknown_ : found->second, begin, letter.size()});
    begin += letter.size();
  }
  return symbols;
}

std::vector<Merger::Symbol> Merger::symbols(std::string_view word) const {
  std::vector<Symbol> symbols = characters(word);
  const size_t count = symbols.size();
  if (merges_.empty() || count < 2) return symbols;

  // A linked list of symbols, and a queue of merges. Queue entries whose pair has changed are skipped.
  std::vector<size_t> next(count), before(count);
  for (size_t i = 0; i < count; ++i) next[i] = i + 1, before[i] = i - 1;  // count: no successor; -1: no predecessor
  using Waiting = std::tuple<size_t, size_t>;                             // rank, index of the left symbol
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
  const auto consider = [&](size_t left) {
    if (left >= count || next[left] >= count) return;
    if (const Merge* merge = merge_of(symbols[left].piece, symbols[next[left]].piece)) queue.emplace(merge->rank, left);
  };
  for (size_t i = 0; i + 1 < count; ++i) consider(i);

  while (!queue.empty()) {
    const auto [rank, left] = queue.top();
    queue.pop();
    const size_t right = next[left];
    if (symbols[left].bytes == 0 || right >= count) continue;
    const Merge* merge = merge_of(symbols[left].piece, symbols[right].piece);
    if (merge == nullptr || merge->rank != rank) continue;
    symbols[left] = {merge->piece, symbols[left].begin, symbols[left].bytes + symbols[right].bytes};
    symbols[right].bytes = 0;  // merged into the left symbol
    next[left] = next[right];
    if (next[left] < count) before[next[left]] = left;
    consider(before[left]);
    consider(left);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
  return symbols;
}

}  // namespace heed
