#include "apps/cli/ablate/attention_gold.h"

#include <chrono>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/child_program.h"
#include <nlohmann/json.hpp>

#include "heed/base/interrupt.h"
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

/// What was measured; null if nothing was.
Json measured_attention(const GridRun& run) {
  const std::string path = attention_file(run);
  return exists(path) ? Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false) : Json(nullptr);
}

bool is_measured(const GridRun& run, const std::string& gold) {
  const Json found = measured_attention(run);
  return found.is_object() && found.value("gold", "") == gold;
}

/// The object that a program printed, after lines for people.
Json printed_object(const std::string& output) {
  const size_t begin = output.rfind("{\n", 0) == 0 ? 0 : output.find("\n{\n");
  return begin == std::string::npos ? Json(nullptr)
                                    : Json::parse(output.substr(begin), nullptr, /*allow_exceptions=*/false);
}

struct Measuring {
  GridRun run;
  std::unique_ptr<ChildProgram> process;
};

Measuring begin_measuring(const GridRun& run, const std::string& gold, int threads, const std::string& program) {
  std::vector<std::string> arguments{"--threads", std::to_string(threads),
                                     "eval",      (run.folder[0] == '-' ? "./" : "") + run.folder,
                                     "--json",    "--attention"};
  std::istringstream words(gold);
  for (std::string word; words >> word;) arguments.push_back(word);
  return {run, std::make_unique<ChildProgram>(program, arguments, attention_log(run))};
}

/// Keeps what was measured; the reason if nothing was.
std::string end_measuring(const GridRun& run, const std::string& gold, int status) {
  const std::string output = read_file(attention_log(run));
  const Json report = status == 0 ? printed_object(output) : Json(nullptr);
  if (!report.is_object()) return reason_in(output, status);
  write_atomically(attention_file(run), Json{{"gold", gold}, {"report", report}}.dump(2) + "\n");
  ::unlink(attention_log(run).c_str());
  return "";
}

}  // namespace

int measure_attention(const Plan& plan, const std::string& folder, const std::string& gold, const GridOptions& options,
                      GridProgress& progress) {
  const InterruptScope interrupt;
  std::vector<GridRun> waiting;
  for (const auto& run : runs_of(plan, folder))
    if (state_of(run) == RunState::finished && !is_measured(run, gold)) waiting.push_back(run);
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
      const std::string wrong = end_measuring(one.run, gold, *status);
      if (!wrong.empty()) progress.line("the attention of " + one.run.title + " is not measured: " + wrong);
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

Json attention_figures(const GridRun& run) {
  Json all = Json::object();
  const Json report = measured_attention(run);
  if (!report.is_object()) return all;
  const auto number_at = [&](const char* path) { return report.value(Json::json_pointer(path), Json(nullptr)); };
  if (const Json aer = number_at("/report/links/forward/aer"); aer.is_number()) all["aer"] = aer;
  const Json maps = number_at("/report/maps/attention");
  if (!maps.is_object()) return all;
  for (const auto& [name, figure] : maps.items())
    if (figure.is_object() && figure.contains("mean") && figure["mean"].is_number()) all[name] = figure["mean"];
  return all;
}

}  // namespace heed::cli
