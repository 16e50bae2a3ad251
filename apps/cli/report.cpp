#include "apps/cli/report.h"

#include "apps/cli/report_labels.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

void print_set(std::ostream& out, const std::string& name, const nlohmann::ordered_json& set) {
  out << name << ": " << set.value("sentences", 0) << " sentences, BLEU " << fixed(set.value("bleu", 0.0), 2)
      << ", chrF " << fixed(set.value("chrf", 0.0), 2) << ", TER " << fixed(set.value("ter", 0.0), 2) << ", perplexity "
      << fixed(set.value("perplexity", 0.0), 2);
  if (set.contains("aer")) out << ", AER " << fixed(100 * set.value("aer", 0.0), 1) << " %";
  if (const int64_t left_out = set.value("gold_links_out_of_range", int64_t{0}); left_out > 0)
    out << " (" << left_out << " gold links out of range left out)";
  out << "\n  BLEU " << set.value("bleu_details", "") << "\n  " << set.value("bleu_signature", "") << '\n';
  if (!set.contains("bleu_by_length")) return;
  out << "  by source length (" << set.value("source_length_unit", "words") << "):";
  for (const auto& bucket : set["bleu_by_length"])
    out << "  " << bucket.value("from", 0) << "-" << bucket.value("to", 0) << ": "
        << fixed(bucket.value("bleu", 0.0), 1) << " (" << bucket.value("sentences", 0) << ")";
  out << '\n';
}

}  // namespace

void print_results(std::ostream& out, const nlohmann::ordered_json& results) {
  for (const char* name : {"dev", "test"})
    if (results.contains(name))
      (results[name].contains("labels") ? print_labeled_set : print_set)(out, name, results[name]);
  if (results.contains("run"))
    out << "run: " << results.value("run", "") << " (" << results.value("step", 0) << " steps, "
        << fixed(results.value("train_seconds", 0.0), 0) << " s of training, best at step "
        << results.value("best_step", 0) << ")\n";
}

std::string named_after(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  return file.substr(0, file.find_last_of('.'));
}

}  // namespace heed::cli
