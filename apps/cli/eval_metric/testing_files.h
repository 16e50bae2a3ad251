// Evaluates files in tests: lines by name, as heed eval would read them.

#pragma once

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/eval_files.h"

#include "heed/base/check.h"

namespace heed::cli::testing_files {

using Lines = std::vector<std::string>;

/// The first file is the reference, the others are the hypotheses.
inline EvalFilesOptions options(const std::vector<std::string>& metrics, const std::vector<Lines>& files) {
  EvalFilesOptions o;
  o.metrics = metrics;
  o.references = {"gold"};
  std::map<std::string, Lines> named{{"gold", files.front()}};
  for (size_t i = 1; i < files.size(); ++i) {
    o.hypotheses.push_back(std::string(1, static_cast<char>('a' + i - 1)));
    named[o.hypotheses.back()] = files[i];
  }
  o.read = [named](const std::string& path) { return named.at(path); };
  return o;
}

inline std::string printed(const EvalFilesOptions& o) {
  std::ostringstream out;
  eval_files(out, o);
  return out.str();
}

inline nlohmann::ordered_json json(EvalFilesOptions o) {
  o.json = true;
  return nlohmann::ordered_json::parse(printed(o));
}

inline nlohmann::ordered_json json(const std::vector<std::string>& metrics, const std::vector<Lines>& files) {
  return json(options(metrics, files));
}

/// The score of the only metric; NaN where there is none.
inline double score(const EvalFilesOptions& o) {
  const auto found = json(o)[o.metrics.front()]["score"];
  return found.is_null() ? std::nan("") : found.get<double>();
}

inline double score(const std::string& metric, const std::vector<Lines>& files) {
  return score(options({metric}, files));
}

inline std::string problem(const EvalFilesOptions& o) {
  try {
    printed(o);
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

inline std::string problem(const std::vector<std::string>& metrics, const std::vector<Lines>& files) {
  return problem(options(metrics, files));
}

}  // namespace heed::cli::testing_files
