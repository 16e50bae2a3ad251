#include "apps/cli/ablate/page.h"

#include "apps/cli/html_text.h"

namespace heed::cli {

std::string ablation_page(const AblationSummary& summary) {
  return "<!doctype html>\n<title>" + html_text(summary.plan.recipe) + "</title>\n";
}

}  // namespace heed::cli
