#include "apps/cli/heat/html.h"

#include <cmath>

#include "apps/cli/heat/page.h"
#include "apps/cli/html_text.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kColors = 256;  // steps of the scale

/// JSON that is safe inside <script>: nothing in it can end the element or begin a comment. '<' occurs only inside
/// strings, where it is written as \u003c.
std::string inside_script(const Json& json) {
  std::string out;
  for (const char letter : json.dump()) out += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return out;
}

/// Weights with four digits; non-finite ones become null.
Json rounded(const std::vector<double>& weights) {
  constexpr double kSteps = 10000;
  Json row = Json::array();
  for (const double weight : weights) {
    const double value = std::round(weight * kSteps) / kSteps;
    row.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
  }
  return row;
}

Json words_of(const std::vector<std::string>& words) {
  Json all = Json::array();
  for (const auto& word : words) all.push_back(printable(word));
  return all;
}

Json json_of(const HeatMap& map) {
  check_heat_map(map);
  Json weights = Json::array();
  for (const auto& row : map.weights) weights.push_back(rounded(row));
  return {{"title", printable(titled(map))},
          {"columns", words_of(map.columns)},
          {"rows", words_of(map.rows)},
          {"weights", weights},
          {"top", map.top},
          {"note", printable(map.note)},
          {"column_name", map.column_name},
          {"row_name", map.row_name}};
}

/// The color scale of the terminal and of PNG, as a lookup table for the page.
Json colors_of_scale() {
  Json all = Json::array();
  for (int i = 0; i < kColors; ++i) {
    const Rgb color = heat_color(i / (kColors - 1.0));
    all.push_back({color.red, color.green, color.blue, is_bright(color) ? 1 : 0});
  }
  return all;
}

std::string css(const Rgb& color) {
  return "rgb(" + std::to_string(color.red) + ' ' + std::to_string(color.green) + ' ' + std::to_string(color.blue) +
         ')';
}

/// A text on the color of its weight.
std::string weighted(const char* element, const std::string& text, double weight, double top) {
  const Rgb color = heat_color(weight / top);
  const std::string shown = std::isfinite(weight) ? fixed(weight, 4) : "not a number";
  return "<" + std::string(element) + " style=\"background:" + css(color) +
         ";color:" + (is_bright(color) ? "#202124" : "#ffffff") + "\" title=\"" + shown + "\">" + html_text(text) +
         "</" + element + ">";
}

/// A section with a paragraph for each part.
std::string section(const TextMap& map) {
  check_text_map(map);
  const TopWeights top = top_weights(map);
  std::string out = "<section><h2>" + html_text(titled(map)) + "</h2>\n";
  for (const auto& part : map.parts) {
    const std::string label = label_of(part);
    out += "<p>";
    if (part.weight)
      out += weighted("b", label, *part.weight, top.parts) + "\n";
    else if (!label.empty())
      out += "<b>" + html_text(label) + "</b>\n";
    for (size_t i = 0; i < part.words.size(); ++i)
      out += (part.weights.empty() ? "<span>" + html_text(part.words[i]) + "</span>"
                                   : weighted("span", part.words[i], part.weights[i], top.words)) +
             "\n";
    out += "</p>\n";
  }
  if (!map.note.empty()) out += "<p class=\"note\">" + html_text(map.note) + "</p>\n";
  return out + "</section>\n";
}

}  // namespace

std::string html_page(const std::string& title, const std::vector<HeatMap>& maps, const std::vector<TextMap>& texts) {
  Json data = {{"maps", Json::array()}, {"colors", colors_of_scale()}};
  for (const auto& map : maps) data["maps"].push_back(json_of(map));
  const std::string name = html_text(title);
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<title>" + name + "</title>\n<style>" + std::string(kPageStyle) + "</style>\n</head>\n<body>\n";
  page += "<h1>" + name + "</h1>\n";
  for (const auto& text : texts) page += section(text);
  if (maps.empty() && !texts.empty()) return page + "</body>\n</html>\n";
  page += std::string(kPageBody);
  page += "<script type=\"application/json\" id=\"data\">" + inside_script(data) + "</script>\n";
  page += "<script>" + std::string(kPageScript) + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace heed::cli
