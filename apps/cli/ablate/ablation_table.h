// The table of an ablation: for a terminal, and as Markdown.

#pragma once

#include <ostream>

#include "apps/cli/ablate/summary.h"
#include "apps/cli/table.h"

namespace heed::cli {

/// A line for each cell; columns without any value are left out.
Table table_of(const AblationSummary& summary);
/// Sentences about the table: what intervals and tests are, which runs failed and why, what cannot be compared.
std::vector<std::string> notes_of(const AblationSummary& summary);

/// columns: width of the terminal, 0: no limit.
void print_ablation(std::ostream& out, const AblationSummary& summary, int columns);
void print_ablation_markdown(std::ostream& out, const AblationSummary& summary);

}  // namespace heed::cli
