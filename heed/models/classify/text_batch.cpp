#include "heed/models/classify/text_batch.h"

#include <algorithm>

#include <ATen/ops/zeros.h>

#include "heed/base/check.h"
#include "heed/data/tokenizer.h"

namespace heed {
namespace {

struct Sizes2 {
  int64_t sentences = 1, length = 1;
};

Sizes2 sizes_of(const std::vector<TextIds>& texts, const Rows& rows) {
  Sizes2 sizes;
  for (const int64_t row : rows) {
    const TextIds& text = texts[static_cast<size_t>(row)];
    sizes.sentences = std::max(sizes.sentences, static_cast<int64_t>(text.size()));
    for (const Ids& sentence : text) sizes.length = std::max(sizes.length, static_cast<int64_t>(sentence.size()));
  }
  return sizes;
}

TextBatch::Column column_of(const std::vector<TextIds>& texts, const Rows& rows, const Sizes2& sizes, bool documents) {
  static_assert(Tokenizer::kPad == 0);
  const auto B = static_cast<int64_t>(rows.size());
  TextBatch::Column column;
  column.ids = at::zeros({B, sizes.sentences, sizes.length}, at::kLong);
  column.keep = at::zeros({B, sizes.sentences, sizes.length}, at::kBool);
  auto* ids = column.ids.data_ptr<int64_t>();
  auto* keep = column.keep.data_ptr<bool>();
  for (const int64_t row : rows) {
    const TextIds& text = texts[static_cast<size_t>(row)];
    for (size_t s = 0; s < text.size(); ++s) {
      std::copy(text[s].begin(), text[s].end(), ids + static_cast<int64_t>(s) * sizes.length);
      std::fill_n(keep + static_cast<int64_t>(s) * sizes.length, text[s].size(), true);
    }
    ids += sizes.sentences * sizes.length;
    keep += sizes.sentences * sizes.length;
  }
  if (!documents) {
    column.ids = column.ids.squeeze(1);
    column.keep = column.keep.squeeze(1);
  }
  return column;
}

}  // namespace

IdPairs ExampleIds::lengths() const {
  IdPairs all;
  all.source.resize(static_cast<size_t>(size()));
  for (const auto& texts : columns)
    for (size_t i = 0; i < texts.size(); ++i) {
      size_t longest = 0;
      for (const Ids& sentence : texts[i]) longest = std::max(longest, sentence.size());
      all.source[i].resize(all.source[i].size() + texts[i].size() * longest);
    }
  return all;
}

TextBatch TextBatch::to(at::Device device) const {
  TextBatch batch = *this;
  for (auto& column : batch.columns) column = {column.ids.to(device), column.keep.to(device)};
  return batch;
}

TextBatch collate(const ExampleIds& examples, const Rows& rows, int64_t rank, int64_t world,
                  const MinSizes& min_sizes) {
  for (const int64_t row : rows)
    check(row >= 0 && row < examples.size(), "models/text_batch: got row ", row, ", expected 0 to ",
          examples.size() - 1);
  const auto [first, count] = share(static_cast<int64_t>(rows.size()), rank, world);
  TextBatch batch;
  batch.rows.assign(rows.begin() + first, rows.begin() + first + count);
  batch.first_row = first;
  for (size_t c = 0; c < examples.columns.size(); ++c) {
    const auto& texts = examples.columns[c];
    Sizes2 sizes = sizes_of(texts, rows);
    if (c < min_sizes.size())
      sizes = {std::max(sizes.sentences, min_sizes[c].first), std::max(sizes.length, min_sizes[c].second)};
    check(examples.documents || sizes.sentences == 1, "models/text_batch: got a text of ", sizes.sentences,
          " sentences, expected one sentence, or documents");
    batch.columns.push_back(column_of(texts, batch.rows, sizes, examples.documents));
    for (const int64_t row : batch.rows)
      for (const Ids& sentence : texts[static_cast<size_t>(row)]) batch.tokens += static_cast<int64_t>(sentence.size());
  }
  return batch;
}

}  // namespace heed
