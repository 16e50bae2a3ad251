#include "apps/cli/torch/explain_records.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char *kFormatKey = "heed_records", *kItem = "item", *kNotFinite = "undefined_not_finite";

std::string line_of(const Json& content) {
  return content.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json header_of(const Json& key) {
  return {{kFormatKey, kFormat}, {"key", key}};
}

bool is_finite(const Json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  return std::all_of(value.begin(), value.end(), [](const Json& part) { return is_finite(part); });
}

Json finite_part(const Json& record) {
  Json kept = Json::object();
  bool dropped = false;
  for (const auto& [name, value] : record.items()) {
    if (is_finite(value))
      kept[name] = value;
    else
      dropped = true;
  }
  if (dropped) kept[kNotFinite] = 1;
  return kept;
}

std::string difference_of(const Json& ours, const Json& theirs) {
  std::vector<std::string> all;
  for (const auto& [name, value] : ours.items()) {
    const Json there = theirs.is_object() && theirs.contains(name) ? theirs[name] : Json("not known");
    if (there != value)
      all.push_back(name + " is " + excerpt(value.dump(), 60) + ", there " + excerpt(there.dump(), 60));
  }
  return all.empty() ? "it has more to it there" : joined(all, "; ");
}

/// The next line with its end; empty where there is no whole one.
std::string_view whole_line(std::string_view text) {
  const size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

RecordFile::RecordFile(const std::string& path, const Json& key, const ExplanationBatches& batches, bool again)
    : path_(path), batches_(batches) {
  keep_what_is_whole(key, again);
}

void RecordFile::refuse(const std::string& what) const {
  fail("explain: ", path_, ": got ", what, ", expected records that heed explain wrote; remove the file, or name ",
       "another run");
}

void RecordFile::keep_what_is_whole(const Json& key, bool again) {
  const std::string text = exists(path_) ? read_file(path_) : "";
  const std::string_view first = whole_line(text);
  const Json header = Json::parse(first, nullptr, /*allow_exceptions=*/false);
  const bool ours = header.is_object() && header.contains(kFormatKey) && header.contains("key");
  const bool begun = first.empty() && line_of(header_of(key)).starts_with(text.substr(0, 17));  // half of a header
  if (!ours && !begun) refuse("a first line '" + excerpt(text.substr(0, text.find('\n')), 40) + "'");
  const bool same = ours && header[kFormatKey] == kFormat && header["key"] == key;
  if (ours && !same) difference_ = difference_of(key, header["key"]);
  file_ = std::make_unique<AppendFile>(path_);
  if (!same || again) {
    file_->truncate_to(0);
    file_->append(line_of(header_of(key)));
    return;
  }
  size_t kept = first.size(), end = first.size(), number = 1;
  for (const auto& batch : batches_) {
    for (const size_t item : batch) {
      const std::string_view line = whole_line(std::string_view(text).substr(end));
      if (line.empty()) return file_->truncate_to(static_cast<int64_t>(kept));
      ++number;
      const Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!record.is_object() || !record.contains(kItem)) refuse("no record in line " + std::to_string(number));
      if (record[kItem] != item)
        refuse("text " + record[kItem].dump() + " in line " + std::to_string(number) + " in place of text " +
               std::to_string(item));
      end += line.size();
    }
    kept = end;
    ++found_;
  }
  if (end < text.size()) refuse("more lines than the " + std::to_string(number - 1) + " texts");
}

void RecordFile::append(const std::vector<Json>& records) {
  const auto& items = batches_.at(found_);
  check(records.size() == items.size(), "explain: ", path_, ": got ", records.size(), " records of ", items.size(),
        " texts, expected one for each");
  std::string lines;
  for (size_t i = 0; i < items.size(); ++i) {
    Json record{{kItem, items[i]}};
    record.update(finite_part(records[i]));
    record[kItem] = items[i];
    lines += line_of(record);
  }
  file_->append(lines);
  ++found_;
}

std::vector<Json> RecordFile::read() const {
  const std::string text = read_file(path_);
  std::vector<Json> records;
  std::string_view rest = std::string_view(text).substr(whole_line(text).size());
  for (std::string_view line = whole_line(rest); !line.empty(); line = whole_line(rest)) {
    records.push_back(Json::parse(line));
    rest.remove_prefix(line.size());
  }
  std::sort(records.begin(), records.end(),
            [](const Json& a, const Json& b) { return a[kItem].get<size_t>() < b[kItem].get<size_t>(); });
  return records;
}

ExplanationBatches batches_by_cost(const std::vector<int64_t>& costs, int64_t cost, size_t texts) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  ExplanationBatches batches;
  int64_t largest = 0;
  for (const size_t item : order) {
    const bool fits = !batches.empty() && batches.back().size() < texts &&
                      largest * static_cast<int64_t>(batches.back().size() + 1) <= cost;
    if (!fits) {
      batches.emplace_back();
      largest = std::max<int64_t>(costs[item], 1);
    }
    batches.back().push_back(item);
  }
  return batches;
}

}  // namespace heed::cli
