#include "heed/data/explanation.h"

#include <array>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/utf8.h"
#include "heed/data/file.h"

namespace heed {
namespace {

using ExplanationJson = nlohmann::ordered_json;
using Verdict = ExplanationVerdict;
using PlotKind = ExplanationPlot::Kind;

constexpr const char* kTestAgain = "; the file is damaged or was edited, run heed explain again";
constexpr std::array<std::pair<Verdict, const char*>, 3> kVerdicts{
    {{Verdict::speaks_for, "for"}, {Verdict::speaks_against, "against"}, {Verdict::neither, "neither"}}};
constexpr std::array<std::pair<PlotKind, const char*>, 3> kKinds{
    {{PlotKind::violin, "violin"}, {PlotKind::scatter, "scatter"}, {PlotKind::curve, "curve"}}};

template <typename Value, size_t N>
const char* name_of(const std::array<std::pair<Value, const char*>, N>& names, Value value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "";
}

// ---- to JSON ----

/// Text that JSON can hold: invalid bytes are replaced.
std::string valid_text(const std::string& text) {
  return first_invalid_utf8(text) == std::string::npos ? text : encoded(decoded(text));
}

template <typename Item, typename AsJson>
ExplanationJson list_of(const std::vector<Item>& items, const AsJson& json) {
  ExplanationJson list = ExplanationJson::array();
  for (const auto& item : items) list.push_back(json(item));
  return list;
}

ExplanationJson texts_json(const std::vector<std::string>& texts) {
  return list_of(texts, valid_text);
}

/// An object with these names, in order.
template <typename Value, typename AsJson>
ExplanationJson named_json(const std::vector<std::pair<std::string, Value>>& items, const AsJson& json) {
  ExplanationJson all = ExplanationJson::object();
  for (const auto& [name, value] : items) all[valid_text(name)] = json(value);
  return all;
}

ExplanationJson cell_json(const ExplanationCell& cell) {
  ExplanationJson json = ExplanationJson::object();
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) json[name] = *value;
  };
  add("value", cell.value);
  add("low", cell.low);
  add("high", cell.high);
  if (!cell.text.empty()) json["text"] = valid_text(cell.text);
  return json;
}

ExplanationJson row_json(const ExplanationTable::Row& row) {
  return {{"name", valid_text(row.name)}, {"cells", list_of(row.cells, cell_json)}};
}

ExplanationJson table_json(const ExplanationTable& table) {
  return {{"title", valid_text(table.title)},
          {"note", valid_text(table.note)},
          {"columns", texts_json(table.columns)},
          {"rows", list_of(table.rows, row_json)}};
}

/// Points of finite coordinates; those of a violin have no x.
ExplanationJson series_json(const ExplanationPlot::Series& series, PlotKind kind) {
  ExplanationJson points = ExplanationJson::array();
  for (const auto& [given_x, y] : series.points)
    if (const double x = kind == PlotKind::violin ? 0 : given_x; std::isfinite(x) && std::isfinite(y))
      points.push_back(kind == PlotKind::violin ? ExplanationJson(y) : ExplanationJson::array({x, y}));
  return {{"name", valid_text(series.name)}, {"points", std::move(points)}};
}

ExplanationJson plot_json(const ExplanationPlot& plot) {
  return {{"kind", name_of(kKinds, plot.kind)},
          {"title", valid_text(plot.title)},
          {"x_name", valid_text(plot.x_name)},
          {"y_name", valid_text(plot.y_name)},
          {"series", list_of(plot.series, [&](const auto& series) { return series_json(series, plot.kind); })}};
}

/// A weight that is not finite is null.
ExplanationJson map_json(const ExplanationExample::Map& map) {
  return {{"name", valid_text(map.name)}, {"weights", list_of(map.weights, [](double w) {
                                             return std::isfinite(w) ? ExplanationJson(w) : ExplanationJson(nullptr);
                                           })}};
}

ExplanationJson example_json(const ExplanationExample& example) {
  return {{"title", valid_text(example.title)},
          {"remark", valid_text(example.remark)},
          {"tokens", texts_json(example.tokens)},
          {"maps", list_of(example.maps, map_json)}};
}

ExplanationJson result_json(const ExplanationResult& result) {
  return {{"test", valid_text(result.test)},
          {"title", valid_text(result.title)},
          {"paper", valid_text(result.paper)},
          {"means", valid_text(result.means)},
          {"means_not", valid_text(result.means_not)},
          {"not_run", valid_text(result.not_run)},
          {"verdict", to_string(result.verdict)},
          {"figure_name", valid_text(result.figure_name)},
          {"figure", cell_json(result.figure)},
          {"finding", valid_text(result.finding)},
          {"counts", named_json(result.counts, [](int64_t count) { return ExplanationJson(count); })},
          {"tables", list_of(result.tables, table_json)},
          {"plots", list_of(result.plots, plot_json)},
          {"examples", list_of(result.examples, example_json)},
          {"notes", texts_json(result.notes)}};
}

// ---- from JSON ----

/// A value in the file, with its path in messages: "results[2].tables[0].columns".
class FoundJson {
 public:
  FoundJson(const ExplanationJson& json, std::string file, std::string path = "")
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {}

  FoundJson at(const char* name) const {
    expect(json_->is_object(), "an object");
    const auto found = json_->find(name);
    if (found == json_->end()) refuse(std::string("no ") + name, std::string("an object with ") + name);
    return {*found, file_, path_.empty() ? name : path_ + "." + name};
  }
  std::optional<FoundJson> find(const char* name) const {
    expect(json_->is_object(), "an object");
    if (!json_->contains(name)) return std::nullopt;
    return at(name);
  }

  std::string text() const {
    expect(json_->is_string(), "text");
    return json_->get<std::string>();
  }
  double number() const {
    expect(json_->is_number(), "a number");
    return json_->get<double>();
  }
  bool is_null() const { return json_->is_null(); }
  bool is(double value) const { return json_->is_number_integer() && json_->get<double>() == value; }
  int64_t count() const {
    expect(json_->is_number_integer() && json_->get<double>() >= 0 && json_->get<double>() < 9e15,
           "a whole number from 0 on");
    return json_->get<int64_t>();
  }
  template <typename Read>
  auto list(const Read& read) const {
    expect(json_->is_array(), "a list");
    std::vector<decltype(read(*this))> items;
    for (size_t i = 0; i < json_->size(); ++i)
      items.push_back(read(FoundJson((*json_)[i], file_, path_ + "[" + std::to_string(i) + "]")));
    return items;
  }
  std::vector<std::string> texts() const {
    return list([](const FoundJson& item) { return item.text(); });
  }
  template <typename Read>
  auto named(const Read& read) const {
    expect(json_->is_object(), "an object");
    std::vector<std::pair<std::string, decltype(read(*this))>> items;
    for (const auto& [name, value] : json_->items())
      items.emplace_back(name, read(FoundJson(value, file_, path_ + "." + excerpt(name, 40))));
    return items;
  }
  template <typename Value, size_t N>
  Value one_of(const std::array<std::pair<Value, const char*>, N>& names) const {
    std::vector<std::string> all;
    for (const auto& [value, name] : names) {
      if (json_->is_string() && *json_ == name) return value;
      all.emplace_back(name);
    }
    refuse(shown(), "one of " + joined(all));
  }

  void expect(bool fine, const std::string& expected) const {
    if (!fine) refuse(shown(), expected);
  }
  [[noreturn]] void refuse(const std::string& got, const std::string& expected, const char* cure = kTestAgain) const {
    fail(file_, ": ", path_, path_.empty() ? "" : ": ", "got ", got, ", expected ", expected, cure);
  }
  std::string shown() const {
    if (json_->is_array()) return "a list";
    return json_->is_object() ? "an object"
                              : excerpt(json_->dump(-1, ' ', true, ExplanationJson::error_handler_t::replace), 60);
  }

 private:
  const ExplanationJson* json_;
  std::string file_, path_;
};

ExplanationCell read_cell(const FoundJson& json) {
  ExplanationCell cell;
  const auto number = [&](const char* name, std::optional<double>& value) {
    if (const auto found = json.find(name)) value = found->number();
  };
  number("value", cell.value);
  number("low", cell.low);
  number("high", cell.high);
  if (const auto text = json.find("text")) cell.text = text->text();
  return cell;
}

ExplanationTable read_table(const FoundJson& json) {
  ExplanationTable table{json.at("title").text(), json.at("note").text(), json.at("columns").texts()};
  table.rows = json.at("rows").list([&](const FoundJson& row) {
    ExplanationTable::Row read{row.at("name").text(), row.at("cells").list(read_cell)};
    if (read.cells.size() + 1 != table.columns.size())
      row.at("cells").refuse(std::to_string(read.cells.size()) + " cells",
                             "one for each of " + std::to_string(table.columns.size()) + " columns but the first");
    return read;
  });
  return table;
}

ExplanationPlot read_plot(const FoundJson& json) {
  ExplanationPlot plot{json.at("kind").one_of(kKinds), json.at("title").text(), json.at("x_name").text(),
                       json.at("y_name").text()};
  plot.series = json.at("series").list([&](const FoundJson& series) {
    return ExplanationPlot::Series{series.at("name").text(),
                                   series.at("points").list([&](const FoundJson& point) -> std::pair<double, double> {
                                     if (plot.kind == PlotKind::violin) return {0, point.number()};
                                     const auto xy = point.list([](const FoundJson& one) { return one.number(); });
                                     point.expect(xy.size() == 2, "a list of x and y");
                                     return {xy[0], xy[1]};
                                   })};
  });
  return plot;
}

ExplanationExample read_example(const FoundJson& json) {
  ExplanationExample example{json.at("title").text(), json.at("remark").text(), json.at("tokens").texts()};
  example.maps = json.at("maps").list([&](const FoundJson& map) {
    const FoundJson weights = map.at("weights");
    ExplanationExample::Map read{map.at("name").text(), weights.list([](const FoundJson& weight) {
                                   return weight.is_null() ? std::numeric_limits<double>::quiet_NaN() : weight.number();
                                 })};
    if (read.weights.size() != example.tokens.size())
      weights.refuse(std::to_string(read.weights.size()) + " weights",
                     "one for each of " + std::to_string(example.tokens.size()) + " tokens");
    return read;
  });
  return example;
}

ExplanationResult read_result(const FoundJson& json) {
  ExplanationResult result;
  result.test = json.at("test").text();
  result.title = json.at("title").text();
  result.paper = json.at("paper").text();
  result.means = json.at("means").text();
  result.means_not = json.at("means_not").text();
  result.not_run = json.at("not_run").text();
  result.verdict = json.at("verdict").one_of(kVerdicts);
  result.figure_name = json.at("figure_name").text();
  result.figure = read_cell(json.at("figure"));
  result.finding = json.at("finding").text();
  result.counts = json.at("counts").named([](const FoundJson& count) { return count.count(); });
  result.tables = json.at("tables").list(read_table);
  result.plots = json.at("plots").list(read_plot);
  result.examples = json.at("examples").list(read_example);
  result.notes = json.at("notes").texts();
  return result;
}

void check_format(const FoundJson& json) {
  const FoundJson format = json.at("format");
  if (format.is(kExplanationFormat)) return;
  format.refuse(format.shown(), std::to_string(kExplanationFormat),
                "; another version of heed wrote it: read it with that one, or run heed explain again");
}

}  // namespace

std::string to_string(ExplanationVerdict verdict) {
  return name_of(kVerdicts, verdict);
}

ExplanationJson as_json(const Explanation& explanation) {
  return {{"format", kExplanationFormat},
          {"run", valid_text(explanation.run)},
          {"task", valid_text(explanation.task)},
          {"mechanism", valid_text(explanation.mechanism)},
          {"set", valid_text(explanation.set)},
          {"texts", explanation.texts},
          {"facts", named_json(explanation.facts, valid_text)},
          {"short_verdict", valid_text(short_verdict(explanation))},
          {"caution", explanation_caution()},
          {"results", list_of(explanation.results, result_json)}};
}

Explanation parse_explanation(const ExplanationJson& content, const std::string& path) {
  const FoundJson json(content, path);
  check_format(json);
  Explanation explanation;
  explanation.run = json.at("run").text();
  explanation.task = json.at("task").text();
  explanation.mechanism = json.at("mechanism").text();
  explanation.set = json.at("set").text();
  explanation.texts = json.at("texts").count();
  explanation.facts = json.at("facts").named([](const FoundJson& value) { return value.text(); });
  explanation.results = json.at("results").list(read_result);
  return explanation;
}

std::optional<Explanation> read_explanation(const std::string& run) {
  const std::string path = run + "/" + kExplanationFile;
  if (!exists(path)) return std::nullopt;
  const ExplanationJson content = ExplanationJson::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  check(!content.is_discarded(), path, ": got text that is not JSON, expected what heed explain wrote", kTestAgain);
  return parse_explanation(content, path);
}

std::string short_verdict(const Explanation& explanation) {
  std::array<std::vector<std::string>, kVerdicts.size()> with{};  // names of tests, by verdict
  size_t count = 0;
  for (const auto& result : explanation.results) {
    if (!result.not_run.empty()) continue;
    ++count;
    with.at(static_cast<size_t>(result.verdict)).push_back(result.test);
  }
  if (count == 0) return "No test says whether these weights explain the outputs.";
  const auto part = [&](Verdict verdict, const char* one, const char* several) {
    const auto& tests = with.at(static_cast<size_t>(verdict));
    const std::string number = tests.empty() ? "none" : std::to_string(tests.size());
    return number + (tests.size() <= 1 ? one : several) + (tests.empty() ? "" : " (" + joined(tests) + ")");
  };
  std::string text = "Of " + std::to_string(count) + (count == 1 ? " test, " : " tests, ") +
                     part(Verdict::speaks_for, " speaks for reading these weights as an explanation",
                          " speak for reading these weights as an explanation") +
                     ", " + part(Verdict::speaks_against, " speaks against it", " speak against it");
  if (!with.at(static_cast<size_t>(Verdict::neither)).empty())
    text += ", " + part(Verdict::neither, " decides nothing", " decide nothing");
  return text + ".";
}

std::string explanation_caution() {
  return "Plausible is not faithful: weights that people find convincing, or that agree with what people marked, need "
         "not be what the output was computed from. The architecture matters: an encoder that reads the context has "
         "already mixed the words before they are weighted, so the same mechanism can pass these tests in one model "
         "and fail them in another. What is found here holds for these weights, on these texts.";
}

}  // namespace heed
