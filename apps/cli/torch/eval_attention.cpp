#include "apps/cli/torch/eval_attention.h"

#include <iostream>

#include "apps/cli/compare.h"
#include "apps/cli/torch/body.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/md5.h"
#include "heed/data/file.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Refuses options of the other task.
void check_task_options(const EvalAttentionArguments& a, bool texts) {
  const auto refuse = [&](bool given, const char* option, const char* what) {
    check(!given, "eval: got ", option, ", expected it with a ", what, "; ", a.run, " is a ",
          texts ? "classifier" : "translator");
  };
  refuse(texts && !a.reverse.empty(), "--reverse", "translator");
  refuse(texts && (a.links_from_one || a.swapped), "--attention-from-one or --attention-swapped", "translator");
  refuse(!texts && (!a.table.text_column.empty() || !a.table.gold_column.empty() || a.table.word_rows ||
                    !a.table.strip_suffix.empty() || a.relevant_above.has_value()),
         "an option of tables of weights", "classifier");
}

/// Of the runs and the gold; a column of the set's own file is among the data of the run.
Provenance origin_of(const EvalAttentionArguments& a) {
  Provenance origin = provenance();
  origin.add_runs(read_run_summary(a.run).origin);
  for (const auto& run : a.agree) origin.add_runs(read_run_summary(run).origin);
  if (!a.reverse.empty()) origin.add_runs(read_run_summary(a.reverse).origin);
  if (exists(a.table.file)) origin.data["gold"].insert(md5_hex(read_file(a.table.file)));
  return origin;
}

void eval_attention(const EvalAttentionArguments& a) {
  check_run(a.run);
  const bool texts = read_config(a.run).value("task", "translate") == "classify";
  check_task_options(a, texts);
  AttentionReport report = texts ? attention_to_texts(a) : attention_to_sources(a);
  report.origin = origin_of(a);
  if (a.json)
    std::cout << as_json(report).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    print(std::cout, report);
}

const Body eval_attention_body{"eval --attention", eval_attention};

}  // namespace
}  // namespace heed::cli
