#include "heed/data/labeled/examples.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/md5.h"
#include "heed/base/nearest.h"
#include "heed/base/scalar.h"
#include "heed/base/utf8.h"
#include "heed/data/labeled/label_column.h"
#include "heed/data/labeled/label_map.h"
#include "heed/data/labeled/sentences.h"
#include "heed/data/labeled/table.h"
#include "heed/data/labeled/text_columns.h"
#include "heed/data/labeled/trees.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {
namespace {

constexpr size_t kAnyFields = static_cast<size_t>(-1), kNoColumn = kAnyFields;

void check_one_of(const std::string& option, const std::string& got, const std::vector<std::string>& known) {
  check(std::find(known.begin(), known.end(), got) != known.end(), "data/examples: got ", option, " '", excerpt(got),
        "', expected one of ", joined(known), suggestion(got, known));
}

void check_options(const ExampleOptions& o) {
  check_one_of("format", o.format, {"auto", "csv", "tsv", "trees"});
  check_one_of("sentences", o.sentences, {"none", "rule", "tab"});
  check(!o.files.empty(), "data/examples: got no files, expected one or more");
  const bool trees = o.format == "trees";
  check(trees || !o.phrases, "data/examples: got phrases with format ", o.format, ", expected format trees");
  check(!trees || (o.id.empty() && o.exclude_ids.empty()),
        "data/examples: got ids with format trees, expected a table with a column of ids");
  check(o.exclude_ids.empty() || !o.id.empty(), "data/examples: got the file ", o.exclude_ids,
        " of ids without the column of ids, expected both; set id");
  check(o.modulo >= 0, "data/examples: got modulo ", o.modulo, ", expected 0 or more");
  check((o.modulo == 0) == o.keep_residues.empty(), "data/examples: got ", o.keep_residues.size(),
        " residues to keep with modulo ", o.modulo, ", expected both or neither");
  for (const int64_t residue : o.keep_residues)
    check(residue >= 0 && residue < o.modulo, "data/examples: got residue ", residue, ", expected 0 to ", o.modulo - 1,
          " with modulo ", o.modulo);
}

/// The first column of a file.
std::unordered_set<std::string> read_ids(const std::string& file) {
  std::unordered_set<std::string> ids;
  if (file.empty()) return ids;
  const Table table = read_table(file, {.format = "tsv", .header = "false", .fields = kAnyFields});
  for (const auto& record : table.records) ids.insert(record.front());
  return ids;
}

/// Whether each is a word such as a header has, and one is well known: "label", "text_2", "comment_text".
bool are_names_of_columns(const std::vector<std::string>& fields) {
  static const std::set<std::string> kKnown{
      "answer", "body",     "category",  "class",  "comment",  "content",  "document", "id",
      "label",  "labels",   "mask",      "phrase", "polarity", "question", "rating",   "review",
      "score",  "sentence", "sentiment", "spans",  "stars",    "tag",      "tags",     "target",
      "text",   "title",    "tokens",    "topic",  "toxicity", "tweet",    "words"};
  bool known = false;
  for (const auto& field : fields) {
    const bool number = field.find_first_not_of("0123456789.,+-") == std::string::npos;  // or empty
    if (number || field.find_first_of(" \t\n") != std::string::npos) return false;
    std::string word;
    for (const char letter : lowered(field) + "_") {
      if (letter >= 'a' && letter <= 'z') {
        word += letter;
        continue;
      }
      known = known || kKnown.count(word) > 0;
      word.clear();
    }
  }
  return known;
}

/// An example as it is in a file.
struct Candidate {
  std::vector<std::string> texts{};
  std::string hashed{};  // the columns of all texts
  std::string label{}, origin{}, id{}, rationale{};
};

/// Collects the examples of all files and applies the same checks to each.
class ExampleReader {
 public:
  explicit ExampleReader(const ExampleOptions& options)
      : o_(options), map_(options.classes, options.ignore_labels), excluded_(read_ids(options.exclude_ids)) {}

  Examples read() {
    for (const auto& file : o_.files) o_.format == "trees" ? read_tree_file(file) : read_table_file(file);
    const LeftOut& out = examples_.left_out;
    check(examples_.size() > 0, "data/examples: ", joined(o_.files), ": of ", seen_, " examples none is left (",
          out.other_residue, " not among the residues, ", out.excluded_id, " with an excluded id, ", out.ignored_label,
          " with an ignored label, ", out.empty_text, " without text)");
    check(excluded_.empty() || found_ids_ > 0, "data/examples: none of the ids in ", o_.exclude_ids,
          " is in the column ", o_.id, " of ", joined(o_.files), ", expected some; check both columns");
    const auto has_weights = [](const Rationale& one) { return !one.weights.empty(); };
    check(o_.rationales.empty() || std::any_of(examples_.rationales.begin(), examples_.rationales.end(), has_weights),
          "data/examples: ", joined(o_.files), ": got no rationale in column ", o_.rationales,
          ", expected weights of words there, at least in one record");
    return std::move(examples_);
  }

 private:
  void read_table_file(const std::string& file) {
    const auto texts = read_text_columns(o_.text);
    const LabelColumn labels = read_label_column(o_.label);
    TableOptions options{.format = o_.format, .header = o_.header, .columns = {labels.from}};
    for (const auto& text : texts) options.columns.insert(options.columns.end(), text.from.begin(), text.from.end());
    for (const auto* column : {&o_.id, &o_.rationales})
      if (!column->empty()) options.columns.push_back(*column);
    options.fields = o_.sentences == "tab" ? kAnyFields : column_number(o_.rationales);
    const Table table = read_table(file, options);
    const size_t label = table.column(labels.from, "data.label"),
                 id = o_.id.empty() ? 0 : table.column(o_.id, "data.id"), rationale = rationale_column(table);
    std::vector<std::vector<size_t>> columns;
    examples_.columns.clear();
    for (const auto& text : texts) {
      examples_.columns.push_back(text.name);
      columns.emplace_back();
      for (const auto& from : text.from) columns.back().push_back(table.column(from, "data.text"));
    }
    if (o_.header == "auto" && table.names.empty()) check_no_header(table, label, columns);
    const size_t document = document_column(table, columns, {label, id, rationale});
    if (document == kNoColumn) table.check_widths(column_number(o_.rationales));
    for (size_t i = 0; i < table.size(); ++i) {
      Candidate one{.label = label_of(labels, table.field(i, label), table.where(i)), .origin = table.where(i)};
      if (!o_.id.empty()) one.id = table.field(i, id);
      if (rationale < table.records[i].size()) one.rationale = table.records[i][rationale];
      for (const auto& text : columns) {
        std::vector<std::string> parts;
        for (const size_t column : text) {
          const std::string field = column == document ? fields_from(table, i, column) : table.field(i, column);
          one.hashed += field;
          if (!field.empty()) parts.push_back(field);
        }
        one.texts.push_back(joined(parts, " "));
      }
      add(std::move(one));
    }
  }

  /// Of a table; past the end of every record if it has none: files of examples without rationales may be among those
  /// that have them.
  size_t rationale_column(const Table& table) const {
    if (o_.rationales.empty()) return kNoColumn;
    const size_t number = column_number(o_.rationales);
    return number > 0 ? number - 1 : table.column(o_.rationales);
  }

  /// The number of a column that is given by one, from 1; else 0.
  static size_t column_number(const std::string& column) {
    int64_t number = 0;
    return read_integer(column, number) && number > 0 ? static_cast<size_t>(number) : 0;
  }

  /// The column after which further columns of a record are sentences of the same text: the last one of a TSV file with
  /// sentences: tab. kNoColumn if another column is read after it.
  size_t document_column(const Table& table, const std::vector<std::vector<size_t>>& texts,
                         const std::vector<size_t>& others) const {
    if (o_.sentences != "tab" || !table.tsv) return kNoColumn;
    size_t last = 0;
    for (const auto& text : texts) last = std::max(last, *std::max_element(text.begin(), text.end()));
    const bool ends = table.names.empty() || last + 1 == table.names.size();
    return ends && std::all_of(others.begin(), others.end(),
                               [&](const size_t column) { return column == kNoColumn || column < last; })
               ? last
               : kNoColumn;
  }

  static std::string fields_from(const Table& table, size_t record, size_t column) {
    std::string all = table.field(record, column);
    for (size_t i = column + 1; i < table.records[record].size(); ++i) all += '\t' + table.records[record][i];
    return all;
  }

  /// A first label that no other line has names its column if all others are frequent classes, or if it and the texts
  /// next to it are names, one of them a well-known one.
  void check_no_header(const Table& table, size_t label, const std::vector<std::vector<size_t>>& texts) const {
    const std::string& first = table.field(0, label);
    std::map<std::string, int64_t> count;
    for (size_t i = 0; i < table.size(); ++i) ++count[table.field(i, label)];
    if (count[first] > 1 || map_.is_ignored(first)) return;
    std::vector<std::string> fields{first};
    for (const auto& text : texts)
      for (const size_t column : text) fields.push_back(table.field(0, column));
    const auto rare = std::count_if(count.begin(), count.end(), [](const auto& one) { return one.second < 3; });
    const bool alone = o_.classes.empty() && o_.one_class && rare == 1 && count.size() > 2;
    check(!alone && !are_names_of_columns(fields), "data/examples: ", table.where(0), ": got the label '",
          excerpt(first), "', which no other line has, as if the line named the columns, expected an example; set ",
          "header (data.header) to true if it names them, and to false if it does not");
  }

  void read_tree_file(const std::string& file) {
    const auto trees = read_trees(file);
    examples_.columns = {"text"};
    for (size_t i = 0; i < trees.size(); ++i) {
      const LabeledTree& tree = trees[i];
      const std::string origin = file + ":" + std::to_string(i + 1), sentence = tree.text(tree.phrases.front());
      for (const auto& phrase : tree.phrases) {
        add({{tree.text(phrase)}, sentence, phrase.label, origin});
        if (!o_.phrases) break;
      }
    }
  }

  void add(Candidate one) {
    ++seen_;
    check(!o_.one_class || !one.label.empty(), "data/examples: ", one.origin,
          ": got an empty label, expected one for every example; write it, or remove the line");
    const bool ignored = map_.is_ignored(one.label);
    const std::string name = ignored ? "" : map_.class_of(one.label, "data/examples: " + one.origin);
    const bool excluded = excluded_.count(one.id) > 0;
    found_ids_ += excluded ? 1 : 0;
    for (auto& text : one.texts) text = prepared_text(text, o_);
    if (int64_t* const reason = reason_to_leave_out(one, name, ignored, excluded)) {
      ++*reason;
      return;
    }
    examples_.texts.push_back(std::move(one.texts));
    examples_.labels.push_back(name);
    if (!o_.rationales.empty()) examples_.rationales.push_back(parse_rationale(one.rationale, one.origin));
    examples_.origins.push_back(std::move(one.origin));
    if (!o_.id.empty()) examples_.ids.push_back(std::move(one.id));
  }

  /// The counter of the reason, or null.
  int64_t* reason_to_leave_out(const Candidate& one, const std::string& name, bool ignored, bool excluded) {
    LeftOut& out = examples_.left_out;
    if (!among_residues(one.hashed)) return &out.other_residue;
    if (excluded) return &out.excluded_id;
    if (ignored) return &out.ignored_label;
    const bool empty = std::all_of(one.texts.begin(), one.texts.end(),
                                   [](const std::string& text) { return whitespace_words(text).empty(); });
    if (empty) return &out.empty_text;  // one text of several may be: what is left of the first word
    if (o_.phrases && !phrases_.insert(one.texts[0] + '\n' + name).second) return &out.duplicate_phrase;
    return nullptr;
  }

  bool among_residues(const std::string& hashed) const {
    if (o_.modulo == 0) return true;
    const auto residue = static_cast<int64_t>(md5_modulo(hashed, static_cast<uint64_t>(o_.modulo)));
    return std::find(o_.keep_residues.begin(), o_.keep_residues.end(), residue) != o_.keep_residues.end();
  }

  const ExampleOptions& o_;
  const LabelMap map_;
  const std::unordered_set<std::string> excluded_;
  std::unordered_set<std::string> phrases_;  // with their classes
  Examples examples_;
  int64_t seen_ = 0, found_ids_ = 0;
};

}  // namespace

std::string prepared_text(const std::string& text, const ExampleOptions& options) {
  const std::string whole = options.sentences == "rule"  ? joined(sentences_by_rule(text), "\t")
                            : options.sentences == "tab" ? joined(sentences_by_tab(text), "\t")
                                                         : text;
  return options.lowercase ? lowered(whole) : whole;
}

Examples read_examples(const ExampleOptions& options) {
  check_options(options);
  return ExampleReader(options).read();
}

}  // namespace heed
