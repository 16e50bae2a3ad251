#include "apps/cli/ablate/attention_gold.h"

#include <chrono>
#include <csignal>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/child_program.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/interrupt.h"
#include "heed/base/md5.h"
#include "heed/base/thread_count.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string attention_file(const GridRun& run) {
  return run.folder + ".attention.json";
}

std::string attention_log(const GridRun& run) {
  return run.folder + ".attention.log";
}

std::string gold_file(const std::string& folder) {
  return folder + "/attention.json";
}

/// The object of a file; null if there is none.
Json object_in(const std::string& path) {
  const Json found = exists(path) ? Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false) : Json(nullptr);
  return found.is_object() ? found : Json(nullptr);
}

Json json_of(const AttentionGold& gold) {
  return {{"options", gold.options}, {"md5", gold.md5}};
}

/// What a measurement depends on.
Json key_of(const GridRun& run, const AttentionGold& gold) {
  return {{"gold", json_of(gold)}, {"results_md5", md5_hex(read_file(run.folder + "/results.json"))}};
}

/// The file of a run if it has this key, else null.
Json measurement_of(const GridRun& run, const AttentionGold& gold) {
  Json found = object_in(attention_file(run));
  return found.is_object() && found.value("key", Json()) == key_of(run, gold) ? found : Json(nullptr);
}

void write_measurement(const GridRun& run, const Json& key, const std::string& name, const Json& value) {
  const Json all{{"key", key}, {name, value}};
  write_atomically(attention_file(run), all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::string> words_of(const std::string& options) {
  std::istringstream text(options);
  return {std::istream_iterator<std::string>(text), {}};
}

/// The object that a program printed, after lines for people.
Json printed_object(const std::string& output) {
  const size_t begin = output.rfind("{\n", 0) == 0 ? 0 : output.find("\n{\n");
  return begin == std::string::npos ? Json(nullptr)
                                    : Json::parse(output.substr(begin), nullptr, /*allow_exceptions=*/false);
}

struct Measuring {
  GridRun run;
  Json key;  // from before it began
  std::unique_ptr<ChildProgram> process;
};

Measuring begin_measuring(const GridRun& run, const AttentionGold& gold, int threads, const std::string& program) {
  std::vector<std::string> arguments{"--threads", std::to_string(threads),
                                     "eval",      (run.folder[0] == '-' ? "./" : "") + run.folder,
                                     "--json",    "--attention"};
  for (const auto& word : words_of(gold.options)) arguments.push_back(word);
  return {run, key_of(run, gold), std::make_unique<ChildProgram>(program, arguments, attention_log(run))};
}

/// Keeps what was measured, or the reason why nothing was, which is returned.
std::string end_measuring(const Measuring& one, int status) {
  const std::string output = read_file(attention_log(one.run));
  const Json report = status == 0 ? printed_object(output) : Json(nullptr);
  if (!report.is_object()) {
    const std::string reason = reason_in(output, status);
    write_measurement(one.run, one.key, "failure", reason);
    return reason;
  }
  write_measurement(one.run, one.key, "report", report);
  ::unlink(attention_log(one.run).c_str());
  return "";
}

}  // namespace

AttentionGold attention_gold(const std::string& options) {
  const auto words = words_of(options);
  check(!words.empty(), "ablate: got --attention without a file, expected one with gold: --attention gold.tsv");
  check(exists(words.front()) && !is_folder(words.front()), "ablate: got --attention '", excerpt(words.front()),
        "', expected a file with gold, and after it the options of heed eval");
  return {joined(words, " "), md5_hex(read_file(words.front()))};
}

std::optional<AttentionGold> read_attention_gold(const std::string& folder) {
  const Json found = object_in(gold_file(folder));
  if (!found.is_object()) return std::nullopt;
  return AttentionGold{found.value("options", ""), found.value("md5", "")};
}

void write_attention_gold(const std::string& folder, const AttentionGold& gold) {
  write_atomically(gold_file(folder), json_of(gold).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int measure_attention(const Plan& plan, const std::string& folder, const AttentionGold& gold,
                      const GridOptions& options, GridProgress& progress) {
  const InterruptScope interrupt;
  std::vector<GridRun> waiting;
  for (const auto& run : runs_of(plan, folder))
    if (state_of(run) == RunState::finished && !measured_attention(run, gold).measured) waiting.push_back(run);
  const auto jobs =
      static_cast<size_t>(options.jobs > 0 ? options.jobs : jobs_for(threads_from_affinity(), plan.threads));
  std::vector<Measuring> at_work;
  while (!waiting.empty() || !at_work.empty()) {
    if (interrupt.asked()) return interrupt.signal();  // the processes end with at_work
    while (!waiting.empty() && at_work.size() < jobs) {
      at_work.push_back(begin_measuring(waiting.front(), gold, plan.threads, options.program));
      waiting.erase(waiting.begin());
    }
    std::erase_if(at_work, [&](Measuring& one) {
      const auto status = one.process->poll();
      if (!status) return false;
      const std::string wrong = end_measuring(one, *status);
      if (!wrong.empty()) progress.line("the attention of " + one.run.title + " is not measured: " + wrong);
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

MeasuredAttention measured_attention(const GridRun& run, const AttentionGold& gold) {
  MeasuredAttention found{.figures = Json::object(), .failure = {}};
  Json& all = found.figures;
  const Json report = measurement_of(run, gold);
  if (!report.is_object()) return found;
  found.failure = report.value("failure", "");
  found.measured = report.contains("report");
  const auto number_at = [&](const char* path) { return report.value(Json::json_pointer(path), Json(nullptr)); };
  if (const Json aer = number_at("/report/links/forward/aer"); aer.is_number()) all["aer"] = aer;
  const Json maps = number_at("/report/maps/attention");
  if (!maps.is_object()) return found;
  for (const auto& [name, figure] : maps.items())
    if (figure.is_object() && figure.contains("mean") && figure["mean"].is_number()) all[name] = figure["mean"];
  return found;
}

}  // namespace heed::cli
