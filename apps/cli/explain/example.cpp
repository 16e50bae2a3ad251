#include "apps/cli/explain/example.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/cli/amount_text.h"
#include "apps/cli/explain/number.h"
#include "apps/cli/html_page.h"
#include "apps/cli/html_text.h"
#include "apps/cli/screen.h"

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr int kLevels = 16;  // of color
constexpr size_t kMaxTokens = 400, kNamedTokens = 3;
constexpr int kTokenColumns = 40, kNamedColumns = 20;

/// The color of a weight, as a class: w0 ... w16 of positive ones, n1 ... n16 of negative ones.
std::string level_of(double weight, double top) {
  if (!std::isfinite(weight)) return "none";
  const auto level = std::lround(std::min(1.0, std::abs(weight) / top) * kLevels);
  return (weight < 0 && level > 0 ? "n" : "w") + std::to_string(level);
}

/// The largest absolute weight, or 1.
double largest(const std::vector<double>& weights) {
  double top = 0;
  for (const double weight : weights)
    if (std::isfinite(weight)) top = std::max(top, std::abs(weight));
  return top > 0 ? top : 1;
}

/// "great 0.412 · movie 0.2": those of the largest absolute weights.
std::string strongest_tokens(const std::vector<std::string>& tokens, const std::vector<double>& weights) {
  std::vector<size_t> order;
  for (size_t i = 0; i < std::min(tokens.size(), weights.size()); ++i)
    if (std::isfinite(weights[i]) && weights[i] != 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(weights[a]) > std::abs(weights[b]); });
  if (order.size() > kNamedTokens) order.resize(kNamedTokens);
  std::string text;
  for (const size_t i : order)
    text += (text.empty() ? "" : " · ") + ("<bdi>" + html_text(shortened(shown_token(tokens[i]), kNamedColumns)) +
                                           "</bdi> " + number_text(weights[i]));
  return text;
}

std::string html_tokens(const std::vector<std::string>& tokens, const std::vector<double>& weights) {
  const double top = largest(weights);
  std::string out = "<p class=\"tokens\">";
  for (size_t i = 0; i < std::min(tokens.size(), kMaxTokens); ++i) {
    if (i < weights.size())
      out += "<span class=\"" + level_of(weights[i], top) + "\" title=\"" +
             (std::isfinite(weights[i]) ? number_text(weights[i]) : "no weight") + "\">";
    else
      out += "<span>";
    out += html_text(shown_token(tokens[i])) + "</span>\n";
  }
  return out + "</p>\n";
}

std::string html_map(const ExplanationExample& example, const ExplanationExample::Map& map) {
  const std::string strongest = strongest_tokens(example.tokens, map.weights);
  const bool any =
      std::any_of(map.weights.begin(), map.weights.end(), [](double weight) { return std::isfinite(weight); });
  const std::string without = any ? "all weights are 0" : "no weights";
  return R"(<div class="map"><p class="name"><b>)" + html_text(map.name) + "</b> <small>" +
         (strongest.empty() ? without : strongest) + "</small></p>\n" + html_tokens(example.tokens, map.weights) +
         "</div>\n";
}

}  // namespace

std::string shown_token(const std::string& token) {
  constexpr size_t kMaxCharacters = 80;  // among them any number that have no width
  std::u32string characters = decoded(token);
  const bool is_long = characters.size() > kMaxCharacters;
  if (is_long) characters.resize(kMaxCharacters);
  const std::string text = shortened(printable(encoded(characters)) + (is_long ? "…" : ""), kTokenColumns);
  return text.empty() || text == " " ? "\u00A0" : text;
}

std::string html_example(const ExplanationExample& example) {
  std::string out = "<details class=\"example\" open><summary>" +
                    html_text(example.title.empty() ? "example" : example.title) + "</summary>\n";
  if (!example.remark.empty()) out += html_element("p", example.remark);
  if (example.tokens.empty()) return out + html_element("p", "No tokens.") + "</details>\n";
  for (const auto& map : example.maps) out += html_map(example, map);
  if (example.maps.empty()) out += html_tokens(example.tokens, {});
  if (example.tokens.size() > kMaxTokens)
    out += html_element("p", "The first " + std::to_string(kMaxTokens) + " of " +
                                 with_commas(static_cast<double>(example.tokens.size())) + " tokens are shown.");
  return out + "</details>\n";
}

std::string html_legend_of_examples() {
  std::string scale;
  for (int level = 0; level <= kLevels; ++level) scale += "<span class=\"w" + std::to_string(level) + "\"></span>";
  return R"(<p class="legend">Maps of weights: 0 <span class="scale">)" + scale +
         "</span> the largest weight of the map. The three largest are named above it with their values. Orange and "
         "underlined: below 0; dotted: no weight.</p>\n";
}

std::string style_of_examples() {
  std::string style = R"(
.example { margin: 10px 0; padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; break-inside: avoid; }
.example summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
.map { margin: 8px 0; }
.map .name { margin: 0; }
.map small { color: var(--faint); font-size: 12px; }
.tokens { margin: 2px 0 0; padding: 5px 6px; max-width: 100ch; line-height: 1.75; background: #ffffff; color: #000000; border: 1px solid var(--line); border-radius: 4px; }
.tokens span, .scale span { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.tokens span { padding: 1px 3px; border-radius: 3px; unicode-bidi: isolate; overflow-wrap: anywhere; }
.tokens .none { text-decoration: underline dotted; }
.legend { font-size: 13px; color: var(--faint); }
.scale { display: inline-flex; height: 12px; vertical-align: -1px; border: 1px solid var(--line); }
.scale span { width: 9px; }
)";
  for (int level = 0; level <= kLevels; ++level) {
    const std::string n = std::to_string(level), light = " 100% " + fixed(100 - 50.0 * level / kLevels, 1) + "%)";
    style += joined({".w", n, " { background: hsl(202", light, "; }\n"}, "");
    if (level > 0) style += joined({".n", n, " { background: hsl(28", light, "; text-decoration: underline; }\n"}, "");
  }
  return style;
}

}  // namespace heed::cli
