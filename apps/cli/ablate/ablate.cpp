#include "apps/cli/ablate/ablate.h"

#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>

#include "apps/cli/ablate/ablation_table.h"
#include "apps/cli/ablate/attention_gold.h"
#include "apps/cli/ablate/dry_run.h"
#include "apps/cli/ablate/grid.h"
#include "apps/cli/ablate/page.h"
#include "apps/cli/module.h"
#include "apps/cli/program_name.h"
#include "apps/cli/report.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/file.h"
#include "heed/data/folder_lock.h"

namespace heed::cli {
namespace {

std::string folder_of(const AblateArguments& a) {
  std::string folder = a.folder.empty() ? "runs/ablate-" + named_after(a.recipe) : a.folder;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

/// The plan of the call, as a continuation of that of the folder.
Plan plan_for(const AblateArguments& a, const std::string& folder) {
  check(!a.vary.empty(), "ablate: got no --vary, expected what to vary, as --vary model.attention.score=additive,dot");
  const int threads = threads_option() > 0 ? threads_option() : 1;
  Plan plan = make_plan(a.recipe, a.overrides, parse_axes(a.vary), parse_seeds(a.seeds), threads);
  const auto before = read_plan(folder);
  if (!before) return plan;
  const auto found = differences(plan, *before);
  check(found.empty(), "ablate: got another ablation than the one in ", folder, ": ", joined(found, "; "),
        ". Name another folder with --out, or call it as it was");
  return continued(plan, *before);
}

/// An Error if the folder holds anything that no ablation wrote.
void check_is_free(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    check(name == FolderLock::kName || name.ends_with(".part"), "ablate: ", folder, " holds '", excerpt(name),
          "' and no plan.json, expected an empty folder or that of an ablation; name another one with --out");
  }
}

void write_reports(const AblationSummary& summary) {
  std::ostringstream markdown;
  print_ablation_markdown(markdown, summary);
  const std::string json = as_json(summary).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  write_atomically(summary.folder + "/results.json", json + "\n");
  write_atomically(summary.folder + "/results.md", markdown.str());
  write_atomically(summary.folder + "/results.html", ablation_page(summary));
}

/// Prints the table and writes it into the folder.
int report(const Plan& plan, const std::string& folder, bool json) {
  const AblationSummary summary = summarize(plan, folder);
  write_reports(summary);
  if (json) {
    std::cout << as_json(summary).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    print_ablation(std::cout, summary, output_columns(0));
    std::cout << "\nwritten: " << printable(folder) << "/results.html, results.md, results.json\n";
  }
  return summary.failures() + summary.unmeasured() > 0 ? 1 : 0;
}

int run_table(const AblateArguments& a) {
  const auto plan = read_plan(a.table);
  check(plan.has_value(), "ablate: got '", excerpt(a.table), "' without plan.json, expected the folder of an ablation");
  return report(*plan, a.table, a.json);
}

int run_dry(const AblateArguments& a, const std::string& folder) {
  const DryRun found = dry_run(plan_for(a, folder), folder, program_file(), a.jobs);
  if (a.json)
    std::cout << as_json(found).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  else
    print_dry_run(std::cout, found);
  return found.refused.empty() ? 0 : 1;
}

}  // namespace

int run_ablate(const AblateArguments& a) {
  if (!a.table.empty()) return run_table(a);
  check(!a.recipe.empty(), "ablate: got no recipe, expected heed ablate recipe.yaml --vary key=value,value");
  const std::string folder = folder_of(a);
  if (a.dry_run) return run_dry(a, folder);
  std::optional<AttentionGold> gold;
  if (!a.attention.empty()) gold = attention_gold(a.attention);
  if (!exists(folder)) plan_for(a, folder);  // a call that is refused leaves no folder
  make_folders(folder);
  const FolderLock lock(folder, {.command = "ablate", .folder = folder, .option = "--out"});
  const Plan plan = plan_for(a, folder);
  if (!read_plan(folder)) check_is_free(folder);
  write_plan(folder, plan);
  GridProgress progress;
  const GridOptions options{program_file(), a.jobs, a.retry};
  int signal = train_grid(plan, folder, options, progress);
  progress.clear();
  if (signal == 0 && gold) {
    write_attention_gold(folder, *gold);
    signal = measure_attention(plan, folder, *gold, options, progress);
  }
  if (signal == 0) return report(plan, folder, a.json);
  std::cerr << "stopped; go on with the same command: " << printable(provenance().command) << '\n';
  return 128 + signal;
}

}  // namespace heed::cli
