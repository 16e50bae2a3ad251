#include "heed/models/classify/labels.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/scalar.h"
#include "heed/data/saved_model.h"

namespace heed {
namespace {

const std::vector<std::pair<LabelForm, const char*>> kForms{{LabelForm::one, "one"},
                                                            {LabelForm::several, "several"},
                                                            {LabelForm::number, "number"},
                                                            {LabelForm::tokens, "tokens"}};

/// The parts of a text between separators, without blanks around them; none of an empty text.
std::vector<std::string> parts_of(const std::string& text, const char* separators) {
  std::vector<std::string> all;
  for (size_t from = 0; from < text.size();) {
    const size_t first = text.find_first_not_of(" \t", from);
    if (first == std::string::npos) break;
    const size_t end = std::min(text.find_first_of(separators, first), text.size());
    const size_t last = text.find_last_not_of(" \t", end - 1);
    if (end > first) all.push_back(text.substr(first, last + 1 - first));
    from = end + 1;
  }
  return all;
}

/// The names of the classes in one label.
std::vector<std::string> names_in(LabelForm form, const std::string& written) {
  if (form == LabelForm::several) return parts_of(written, ",");
  if (form == LabelForm::tokens) return parts_of(written, " \t");
  return {written};
}

double number_of(const std::string& written, const std::string& origin) {
  double value = 0;
  check(read_number(written, value) && std::isfinite(value), origin, ": got the label '", excerpt(written),
        "', expected a number; for classes, set model.output to softmax");
  return value;
}

bool all_whole(const std::vector<std::string>& names) {
  int64_t value = 0;
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return read_integer(name, value); });
}

int64_t whole(const std::string& name) {
  int64_t value = 0;
  read_integer(name, value);
  return value;
}

}  // namespace

std::string to_string(LabelForm form) {
  for (const auto& [known, name] : kForms)
    if (known == form) return name;
  return "";
}

nlohmann::ordered_json LabelSet::json() const {
  nlohmann::ordered_json out{{"form", to_string(form)}};
  if (form == LabelForm::number)
    out.update({{"mean", mean}, {"deviation", deviation}});
  else
    out["names"] = names;
  if (form == LabelForm::several) out["threshold"] = threshold;
  return out;
}

LabelSet LabelSet::parse(const nlohmann::json& content, const std::string& path) {
  LabelSet labels;
  try {
    const auto form = content.at("form").get<std::string>();
    const auto found = std::find_if(kForms.begin(), kForms.end(), [&](const auto& one) { return form == one.second; });
    check(found != kForms.end(), path, ": got labels of the form '", excerpt(form), "'", kDamaged);
    labels.form = found->first;
    if (labels.form == LabelForm::number) {
      labels.mean = content.at("mean");
      labels.deviation = content.at("deviation");
    } else {
      labels.names = content.at("names").get<std::vector<std::string>>();
    }
    if (labels.form == LabelForm::several) labels.threshold = content.at("threshold");
  } catch (const nlohmann::json::exception&) {
    fail(path, ": got labels without their form, names or numbers", kDamaged);
  }
  return labels;
}

LabelSet learned_labels(LabelForm form, const std::vector<std::string>& written,
                        const std::vector<std::string>& origins, const std::vector<std::string>& order) {
  check(!written.empty(), "data.train: got no examples, expected labeled ones");
  LabelSet labels{.form = form};
  if (form == LabelForm::number) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < written.size(); ++i) sum += number_of(written[i], origins[i]);
    labels.mean = sum / static_cast<double>(written.size());
    for (size_t i = 0; i < written.size(); ++i) {
      const double off = number_of(written[i], origins[i]) - labels.mean;
      squares += off * off;
    }
    labels.deviation = std::sqrt(squares / static_cast<double>(written.size()));
    check(labels.deviation > 0, "data.train: got the label ", written[0],
          " for every example, expected numbers that differ; check data.label");
    return labels;
  }
  std::set<std::string> found;
  for (const auto& label : written)
    for (const auto& name : names_in(form, label)) found.insert(name);
  labels.names.assign(found.begin(), found.end());
  if (!order.empty())
    labels.names = order;
  else if (all_whole(labels.names))
    std::sort(labels.names.begin(), labels.names.end(),
              [](const std::string& a, const std::string& b) { return whole(a) < whole(b); });
  const size_t min_classes = form == LabelForm::several ? 1 : 2;
  check(found.size() >= min_classes, "data.train: got ",
        found.size() == 1 ? "the label '" + excerpt(*found.begin()) + "' alone" : std::string("no label"), " in ",
        written.size(), " examples, expected at least ", min_classes, min_classes == 1 ? " class" : " classes",
        "; check data.label");
  return labels;
}

Label parse_label(const LabelSet& labels, const std::string& written, const std::string& origin) {
  Label label;
  if (labels.form == LabelForm::number) {
    label.number = number_of(written, origin);
    return label;
  }
  for (const auto& name : names_in(labels.form, written)) {
    const auto found = std::find(labels.names.begin(), labels.names.end(), name);
    check(found != labels.names.end(), origin, ": got the label '", excerpt(name), "', which no training example has",
          suggestion(name, labels.names), "; expected one of ", excerpt(joined(labels.names), 200));
    label.classes.push_back(found - labels.names.begin());
  }
  if (labels.form == LabelForm::several) {
    std::sort(label.classes.begin(), label.classes.end());
    label.classes.erase(std::unique(label.classes.begin(), label.classes.end()), label.classes.end());
  }
  return label;
}

}  // namespace heed
