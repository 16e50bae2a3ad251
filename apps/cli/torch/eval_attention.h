// heed eval RUN --attention GOLD, by task.

#pragma once

#include "apps/cli/attention_options.h"
#include "apps/cli/eval_attention_report.h"

namespace heed::cli {

AttentionReport attention_to_texts(const EvalAttentionArguments& a);
AttentionReport attention_to_sources(const EvalAttentionArguments& a);

}  // namespace heed::cli
