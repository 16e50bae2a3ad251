#include "apps/cli/eval_attention_gold.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"
#include "heed/data/labeled/table.h"
#include "heed/data/tokenizer/spec.h"

namespace heed::cli {
namespace {

double weight_of(const std::string& written, const std::string& where) {
  double weight = 0;
  check(read_number(written, weight) && std::isfinite(weight), where, ": got the gold weight '", excerpt(written),
        "', expected finite numbers, separated by blanks; choose their column by --gold-column");
  return weight;
}

/// The columns that are read; kNone: the texts are not in the file.
struct Columns {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t id, text, gold;
};

class GoldReader {
 public:
  explicit GoldReader(const GoldTableOptions& options) : o_(options), table_(read(options)), columns_(columns()) {}

  GoldWeights all() {
    GoldWeights gold{.texts = {}, .has_text = columns_.text != Columns::kNone};
    for (size_t i = 0; i < table_.size(); ++i) o_.word_rows ? add_word(gold, i) : add_text(gold, i);
    for (const auto& text : gold.texts) check_words(gold, text);
    return gold;
  }

 private:
  static heed::Table read(const GoldTableOptions& o) {
    TableOptions options;
    for (const auto& name : {o.id_column, o.text_column, o.gold_column})
      if (!name.empty()) options.columns.push_back(name);
    return read_table(o.file, options);
  }

  Columns columns() const {
    const size_t width = table_.names.empty() ? table_.records.front().size() : table_.names.size();
    check(width > 1, table_.where(0), ": got a single column, expected ids and gold weights, as in 17<TAB>0 ",
          "0 1 0; line numbers are ids too");
    return {table_.column(o_.id_column), o_.text_column.empty() ? Columns::kNone : table_.column(o_.text_column),
            o_.gold_column.empty() ? width - 1 : table_.column(o_.gold_column)};
  }

  std::string stripped(std::string word) const {
    if (!o_.strip_suffix.empty() && word.size() > o_.strip_suffix.size() && word.ends_with(o_.strip_suffix))
      word.resize(word.size() - o_.strip_suffix.size());
    return word;
  }

  /// Refuses an id that has been there.
  void begin_text(const GoldText& text, const char* expected) {
    const auto [known, is_new] = first_.emplace(text.id, text.where);
    check(is_new, text.where, ": got the id '", excerpt(text.id), "' again, after ", known->second, ", ", expected,
          ", or choose the column of ids by --id-column");
  }

  void add_text(GoldWeights& gold, size_t record) {
    GoldText one{.id = table_.field(record, columns_.id), .where = table_.where(record)};
    for (const auto& written : whitespace_words(table_.field(record, columns_.gold)))
      one.weights.push_back(weight_of(written, one.where));
    if (gold.has_text) {
      auto words = whitespace_words(table_.field(record, columns_.text));
      for (auto& word : words) word = stripped(word);
      one.text = joined(words, " ");
    }
    begin_text(one, "expected each once; a table of a word in each record needs --word-rows");
    gold.texts.push_back(std::move(one));
  }

  void add_word(GoldWeights& gold, size_t record) {
    const std::string& id = table_.field(record, columns_.id);
    if (gold.texts.empty() || gold.texts.back().id != id) {
      gold.texts.push_back({.id = id, .where = table_.where(record)});
      begin_text(gold.texts.back(), "expected the words of a text one after another; sort the records by id");
    }
    GoldText& one = gold.texts.back();
    one.weights.push_back(weight_of(table_.field(record, columns_.gold), table_.where(record)));
    if (!gold.has_text) return;
    const auto words = whitespace_words(table_.field(record, columns_.text));
    check(words.size() == 1, table_.where(record), ": got '", excerpt(table_.field(record, columns_.text)),
          "', expected one word, since --word-rows is given");
    one.text += (one.text.empty() ? "" : " ") + stripped(words.front());
  }

  static void check_words(const GoldWeights& gold, const GoldText& one) {
    if (!gold.has_text) return;
    const size_t words = whitespace_words(one.text).size();
    check(words == one.weights.size(), one.where, ": got ", one.weights.size(), " gold weights for ", words,
          " words, expected one for each; words are separated by blanks");
  }

  const GoldTableOptions& o_;
  heed::Table table_;
  Columns columns_;
  std::map<std::string, std::string> first_;  // where each id is first
};

}  // namespace

bool GoldWeights::binary() const {
  return std::all_of(texts.begin(), texts.end(), [](const GoldText& text) {
    return std::all_of(text.weights.begin(), text.weights.end(), [](double w) { return w == 0 || w == 1; });
  });
}

GoldWeights read_gold_weights(const GoldTableOptions& options) {
  return GoldReader(options).all();
}

}  // namespace heed::cli
