// What self-contained reports of several commands share: the document, its colors and its facts.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::cli {

/// Colors of paper, ink and lines as CSS variables, in light, in the dark and in print; and the look of titles, texts,
/// figures and facts. A page adds its own after it.
extern const std::string_view kReportStyle;

/// The whole file, which fetches nothing. body: HTML.
std::string html_document(const std::string& title, const std::string& style, const std::string& body);

/// An element with a text, which is escaped: html_element("p", "a < b").
std::string html_element(const std::string& name, const std::string& text);

/// A list of names and values.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// A plot with a title above and a text below it; nothing without a plot.
std::string html_figure(const std::string& title, const std::string& plot, const std::string& caption);

}  // namespace heed::cli
