#include "apps/cli/html_page.h"

#include "apps/cli/html_text.h"

namespace heed::cli {

const std::string_view kReportStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #202124; --faint: #5f6368; --line: #d5d8dc; --panel: #f4f5f7; --accent: #1a66c2; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e8eaed; --faint: #a5abb1; --line: #3a3e44; --panel: #1f2227; --accent: #7ab4ff; } }
@media print { :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --faint: #444444; --line: #bbbbbb; --panel: #ffffff; --accent: #1a66c2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px 20px; max-width: 1500px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
h1 { font-size: 21px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 4px; }
p { margin: 4px 0 8px; max-width: 90ch; overflow-wrap: anywhere; }
p.about, figcaption, dt { color: var(--faint); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 24px; margin: 18px 0; align-items: start; }
figure { margin: 0; }
figcaption { font-size: 13px; }
svg { display: block; width: 100%; max-width: 620px; height: auto; font: 11px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
svg text { fill: var(--ink); white-space: pre; }
svg .grid { stroke: var(--line); stroke-width: 1; }
.scroll { overflow-x: auto; margin: 0 0 12px; }
table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 6px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; font-size: 13px; margin: 12px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
@media screen and (max-width: 720px) {
  body { padding: 12px 14px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 6px; }
}
@media print {
  body { padding: 0; max-width: none; font-size: 9.5pt; }
  .scroll { overflow: visible; }
  tr, figure { break-inside: avoid; }
}
)";

std::string html_document(const std::string& title, const std::string& style, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
         html_element("title", title) + "<style>" + std::string(kReportStyle) + style + "</style>\n</head>\n<body>\n" +
         html_element("h1", title) + body + "</body>\n</html>\n";
}

std::string html_element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + html_text(text) + "</" + name + ">\n";
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (facts.empty()) return "";
  std::string out = "<dl>\n";
  for (const auto& [name, value] : facts) out += html_element("dt", name) + html_element("dd", value);
  return out + "</dl>\n";
}

std::string html_figure(const std::string& title, const std::string& plot, const std::string& caption) {
  if (plot.empty()) return "";
  return "<figure>" + html_element("h2", title) + plot + html_element("figcaption", caption) + "</figure>\n";
}

}  // namespace heed::cli
