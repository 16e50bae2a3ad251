// What tests of attention as an explanation found on a run: explain.json of a run folder. Everything that a report
// shows is in it; pages and messages are made from it without knowing the tests.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed {

/// A figure with its interval of 95 %, and over how many texts it is a mean; or a text.
struct ExplanationCell {
  std::optional<double> value{}, low{}, high{};
  std::string text{};  // in place of a value
};

struct ExplanationTable {
  std::string title{}, note{};
  std::vector<std::string> columns{};  // the first one is of the names of rows
  struct Row {
    std::string name{};
    std::vector<ExplanationCell> cells{};
  };
  std::vector<Row> rows{};
};

/// violin: the values y of a series are a distribution; series are side by side.
/// scatter: a point for each (x, y). curve: points joined in the order of x.
struct ExplanationPlot {
  enum class Kind { violin, scatter, curve };
  Kind kind = Kind::scatter;
  std::string title{}, x_name{}, y_name{};
  struct Series {
    std::string name{};
    std::vector<std::pair<double, double>> points{};  // (x, y); a violin reads y
  };
  std::vector<Series> series{};
};

/// A text with one or several maps of weights over its tokens.
struct ExplanationExample {
  std::string title{}, remark{};
  std::vector<std::string> tokens{};
  struct Map {
    std::string name{};
    std::vector<double> weights{};
  };
  std::vector<Map> maps{};
};

/// Whether a test speaks for or against reading the weights as an explanation.
enum class ExplanationVerdict { speaks_for, speaks_against, neither };
std::string to_string(ExplanationVerdict verdict);

/// What one test found.
struct ExplanationResult {
  std::string test{};                // "permutation"
  std::string title{}, paper{};      // "Permuted weights", "Jain & Wallace, 2019"
  std::string means{}, means_not{};  // a sentence each: what its figures mean, and what they do not
  ExplanationVerdict verdict = ExplanationVerdict::neither;
  std::string figure_name{};                              // of `figure`: "mean tau"
  ExplanationCell figure{};                               // what the verdict is from, by which runs are compared
  std::string finding{};                                  // one sentence with the figures that the verdict is from
  std::vector<std::pair<std::string, int64_t>> counts{};  // texts, and those that are degenerate, by reason
  std::vector<ExplanationTable> tables{};
  std::vector<ExplanationPlot> plots{};
  std::vector<ExplanationExample> examples{};
  std::vector<std::string> notes{};
  std::string not_run{};  // why the test does not apply; then there is nothing else
};

/// explain.json.
struct Explanation {
  std::string run{}, task{}, mechanism{}, set{};  // "classify", "additive + softmax", "dev"
  int64_t texts = 0;
  std::vector<std::pair<std::string, std::string>> facts{};  // where the figures are from: command, commit, seed
  std::vector<ExplanationResult> results{};
};

inline constexpr const char* kExplanationFile = "explain.json";
inline constexpr int kExplanationFormat = 1;
/// The fact that has the md5 of model.safetensors: other weights were not tested.
inline constexpr const char* kExplanationModelFact = "model (md5)";

nlohmann::ordered_json as_json(const Explanation& explanation);
/// Throws Error, with `path` of the file, if the content is not that of as_json().
Explanation parse_explanation(const nlohmann::ordered_json& content, const std::string& path);
/// That of a run folder; nothing if it has none.
std::optional<Explanation> read_explanation(const std::string& run);

/// One sentence over all tests: how many speak for and against reading the weights as an explanation, and which.
std::string short_verdict(const Explanation& explanation);
/// What every report ends with: plausible is not faithful, and the architecture matters.
std::string explanation_caution();

}  // namespace heed
