#include "apps/cli/eval_files.h"

#include <algorithm>
#include <optional>

#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/utf8.h"
#include "heed/metrics/alignment_error.h"
#include "heed/metrics/bleu_tokenizer.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/text.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

/// One metric: as sacreBLEU prints it, and more fields for JSON.
struct Figure {
  std::string key, name, signature;
  double score;
  std::string details;
  ordered_json more;
};

Figure bleu_figure(const Sentences& hypotheses, const std::vector<Sentences>& references, const BleuOptions& options) {
  const Bleu found = bleu(hypotheses, references, options);
  const BleuCounts& counts = found.counts;
  return {"bleu",
          "BLEU",
          signature(options, references.size()),
          found.score,
          details(found),
          {{"precisions", found.precisions},
           {"matches", counts.matches},
           {"totals", counts.totals},
           {"brevity_penalty", found.brevity_penalty},
           {"hypothesis_length", counts.hypothesis_length},
           {"reference_length", counts.reference_length}}};
}

Figure chrf_figure(const Sentences& hypotheses, const std::vector<Sentences>& references, const std::string& key,
                   bool lowercase) {
  const ChrfOptions options{.word_order = key == "chrf++" ? size_t{2} : 0, .lowercase = lowercase};
  const double score = chrf(hypotheses, references, options).score;
  return {key, chrf_name(options), signature(options, references.size()), score, "", ordered_json::object()};
}

Figure ter_figure(const Sentences& hypotheses, const std::vector<Sentences>& references, const TerOptions& options) {
  const Ter found = ter(hypotheses, references, options);
  return {"ter",       "TER", signature(options, references.size()),
          found.score, "",    {{"edits", found.edits}, {"reference_length", found.reference_length}}};
}

std::vector<std::string> read_beside(const EvalFilesOptions& options, const std::string& path,
                                     const std::string& first_path, size_t first_lines) {
  auto lines = options.read(path);
  check(lines.size() == first_lines, "eval: ", first_path, " has ", first_lines, " lines but ", path, " has ",
        lines.size(), ", expected the same number of lines");
  return lines;
}

struct Corpus {
  Sentences hypotheses;
  std::vector<Sentences> references;
};

Corpus read_corpus(const EvalFilesOptions& options) {
  check(!options.references.empty(), "eval: hypotheses in ", options.hypothesis,
        " without references, expected a file of them");
  Corpus corpus{options.read(options.hypothesis), {}};
  check(!corpus.hypotheses.empty(), "eval: ", options.hypothesis, " is empty, expected a sentence on each line");
  for (const auto& path : options.references)
    corpus.references.push_back(read_beside(options, path, options.hypothesis, corpus.hypotheses.size()));
  return corpus;
}

/// TER searches for phrase shifts repeatedly: its time grows with the cube of the line length.
void check_ter_lengths(const std::string& path, const Sentences& lines) {
  constexpr size_t kMaxWords = 3000;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t words = lines[i].size() <= kMaxWords ? 0 : split_words(lines[i]).size();
    check(words <= kMaxWords, "eval: ", path, ":", i + 1, ": got ", words, " words, expected at most ", kMaxWords,
          " for TER; break the line into sentences, or leave ter out of --metrics");
  }
}

std::vector<Figure> figures(const EvalFilesOptions& options, const Corpus& corpus) {
  std::vector<Figure> all;
  if (std::find(options.metrics.begin(), options.metrics.end(), "ter") != options.metrics.end()) {
    check_ter_lengths(options.hypothesis, corpus.hypotheses);
    for (size_t i = 0; i < corpus.references.size(); ++i)
      check_ter_lengths(options.references[i], corpus.references[i]);
  }
  for (const auto& metric : options.metrics) {
    if (metric == "bleu")
      all.push_back(bleu_figure(corpus.hypotheses, corpus.references, options.bleu));
    else if (metric == "ter")
      all.push_back(ter_figure(corpus.hypotheses, corpus.references, options.ter));
    else
      all.push_back(chrf_figure(corpus.hypotheses, corpus.references, metric, options.bleu.lowercase));
  }
  return all;
}

struct ByLength {
  std::vector<LengthBucket> buckets{};
  bool characters = false;  // lengths are in characters, not words
};

ByLength by_source_length(const EvalFilesOptions& options, const Corpus& corpus) {
  const auto lines = read_beside(options, options.source, options.hypothesis, corpus.hypotheses.size());
  const auto found = options.source_characters ? sentence_lengths(lines, true) : sentence_lengths(lines);
  return {bleu_by_length(found.lengths, corpus.hypotheses, corpus.references, options.bleu, options.length_bounds),
          found.characters};
}

std::vector<Links> read_links(const std::string& path, const std::vector<std::string>& lines, LinkNumbers numbers) {
  std::vector<Links> all;
  for (const auto& line : lines) {
    try {
      all.push_back(parse_links(line, numbers));
    } catch (const Error& error) {
      fail("eval: ", path, ", line ", all.size() + 1, ": ", error.what());
    }
  }
  return all;
}

/// The links with 1 subtracted from each word number: read as counted from 0, but counted from 1.
std::vector<Links> one_less(std::vector<Links> lines) {
  for (auto& links : lines)
    for (auto& link : links) --link.source, --link.target;
  return lines;
}

/// Prints a remark if one file has no word 0 and a better AER when read as counted from 1.
void remark_on_numbering(const EvalFilesOptions& options, const std::vector<Links>& links,
                         const std::vector<Links>& gold, double error) {
  const auto remark = [&](const std::string& path, const char* cure, const AlignmentError& from_one) {
    if (from_one.error < error)
      *options.remarks << "eval: " << path << ": got links without any word 0, expected words counted from 0; counted "
                       << "from 1, AER is " << fixed(100 * from_one.error, options.digits) << " % instead of "
                       << fixed(100 * error, options.digits) << " %: give " << cure << '\n';
  };
  if (!options.gold_numbers.from_one && !has_word_zero(gold))
    remark(options.gold_links, "--gold-from-one", alignment_error(links, one_less(gold)));
  if (!options.links_numbers.from_one && !has_word_zero(links))
    remark(options.links, "--links-from-one", alignment_error(one_less(links), gold));
}

AlignmentError link_errors(const EvalFilesOptions& options) {
  const auto lines = options.read(options.links);
  const auto gold_lines = read_beside(options, options.gold_links, options.links, lines.size());
  const auto links = read_links(options.links, lines, options.links_numbers),
             gold = read_links(options.gold_links, gold_lines, options.gold_numbers);
  const AlignmentError found = alignment_error(links, gold);
  remark_on_numbering(options, links, gold, found.error);
  return found;
}

/// Throws on invalid options, before any file is read.
void check_options(const EvalFilesOptions& options) {
  const auto known = eval_metrics();
  for (const auto& metric : options.metrics) {
    const bool is_run = metric.find_first_of("/=") != std::string::npos;
    check(std::find(known.begin(), known.end(), metric) != known.end(), "eval: no metric called '", excerpt(metric),
          "'", suggestion(metric, known), "; known: ", joined(known),
          is_run ? ". heed eval RUN reports all of them and takes no --metrics" : "");
  }
  const bool texts = !options.hypothesis.empty(), links = !options.links.empty();
  check(texts || links, "eval: nothing to evaluate, expected hypotheses and references, or links and gold links");
  check(texts || (options.references.empty() && options.source.empty()),
        "eval: references or a source without hypotheses, expected a file of hypotheses");
  check(links == !options.gold_links.empty(), "eval: ", links ? "links without gold links" : "gold links without links",
        ", expected both");
  check(options.digits >= 0 && options.digits <= 15, "eval: ", options.digits, " digits, expected 0 to 15");
  bleu_tokenizer(options.bleu.tokenizer);
}

struct Evaluated {
  std::vector<Figure> figures;
  ByLength by_length;
  std::optional<AlignmentError> links;
};

std::string range(const LengthBucket& bucket) {
  return std::to_string(bucket.shortest) + " to " + std::to_string(bucket.longest);
}

void print_words(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options) {
  const auto shown = [&](double value) { return fixed(value, options.digits); };
  for (const auto& figure : all.figures)
    out << figure.name << '|' << figure.signature << " = " << shown(figure.score) << (figure.details.empty() ? "" : " ")
        << figure.details << '\n';
  if (!all.by_length.buckets.empty())
    out << padded_left(all.by_length.characters ? "source characters" : "source words", 17)
        << padded_left("sentences", 12) << padded_left("BLEU", 9) << '\n';
  for (const auto& bucket : all.by_length.buckets)
    out << padded_left(range(bucket), 17) << padded_left(std::to_string(bucket.sentences), 12)
        << padded_left(shown(bucket.bleu.score), 9) << '\n';
  if (all.links)
    out << "AER = " << shown(100 * all.links->error) << " % precision = " << shown(100 * all.links->precision)
        << " % recall = " << shown(100 * all.links->recall) << " % (links = " << all.links->links
        << " sure = " << all.links->sure << " possible = " << all.links->possible << ")\n";
}

ordered_json as_json(const Figure& figure) {
  ordered_json one{{"name", figure.name}, {"score", figure.score}, {"signature", figure.signature}};
  one.update(figure.more);
  return one;
}

ordered_json as_json(const AlignmentError& found) {
  return {{"aer", found.error},           {"precision", found.precision},
          {"recall", found.recall},       {"links", found.links},
          {"sure", found.sure},           {"possible", found.possible},
          {"sure_hits", found.sure_hits}, {"possible_hits", found.possible_hits}};
}

void print_json(std::ostream& out, const Evaluated& all) {
  ordered_json root = ordered_json::object();
  for (const auto& figure : all.figures) root[figure.key] = as_json(figure);
  if (!all.by_length.buckets.empty()) root["source_length_unit"] = all.by_length.characters ? "characters" : "words";
  for (const auto& bucket : all.by_length.buckets)
    root["bleu_by_source_length"].push_back({{"shortest", bucket.shortest},
                                             {"longest", bucket.longest},
                                             {"sentences", bucket.sentences},
                                             {"bleu", bucket.bleu.score}});
  if (all.links) root["alignment"] = as_json(*all.links);
  out << root.dump(2) << '\n';
}

}  // namespace

std::vector<std::string> eval_metrics() {
  return {"bleu", "chrf", "chrf++", "ter"};
}

void eval_files(std::ostream& out, const EvalFilesOptions& options) {
  check_options(options);
  Evaluated all;
  if (!options.hypothesis.empty()) {
    const Corpus corpus = read_corpus(options);
    all.figures = figures(options, corpus);
    if (!options.source.empty()) all.by_length = by_source_length(options, corpus);
  }
  if (!options.links.empty()) all.links = link_errors(options);
  options.json ? print_json(out, all) : print_words(out, all, options);
}

}  // namespace heed::cli
