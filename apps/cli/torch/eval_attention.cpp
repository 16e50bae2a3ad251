#include "apps/cli/torch/eval_attention.h"

#include <iostream>

#include "apps/cli/torch/body.h"
#include <nlohmann/json.hpp>

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

void eval_attention(const EvalAttentionArguments& a) {
  check_run(a.run);
  const bool texts = read_config(a.run).value("task", "translate") == "classify";
  check_task_options(a, texts);
  const AttentionReport report = texts ? attention_to_texts(a) : attention_to_sources(a);
  if (a.json)
    std::cout << as_json(report).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    print(std::cout, report);
}

const Body eval_attention_body{"eval --attention", eval_attention};

}  // namespace
}  // namespace heed::cli
