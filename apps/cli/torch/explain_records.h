// The records of a test: a file to which every batch of texts is appended, so that a test that is stopped at any moment
// goes on with the next batch and ends with the same bytes.
//
//   {"heed_records": 1, "key": {...}}        what the records depend on
//   {"item": 17, "tau": 0.31}                a text, in the order of the batches

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "heed/train/run/append_file.h"

namespace heed::cli {

using ExplanationBatches = std::vector<std::vector<size_t>>;  // items of each

class RecordFile {
 public:
  /// Opens or creates the file. Whole batches of the same key are kept; a line or a batch that was being written is
  /// dropped, and with another key or `again` all of it. A file that is none of records is an Error.
  RecordFile(const std::string& path, const nlohmann::ordered_json& key, const ExplanationBatches& batches,
             bool again = false);

  /// Batches that are there.
  size_t batches() const { return found_; }
  /// What of the key differs from that of the file, whose records were dropped: "seed is 2, there 1"; or "".
  const std::string& difference() const { return difference_; }

  /// Appends the next batch: a record for each of its items. What is not finite is left out and counted by the key
  /// "undefined_not_finite".
  void append(const std::vector<nlohmann::ordered_json>& records);
  /// All records that are there, by item. They are those of the file, bit for bit.
  std::vector<nlohmann::ordered_json> read() const;

 private:
  void keep_what_is_whole(const nlohmann::ordered_json& key, bool again);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_;
  const ExplanationBatches& batches_;
  std::unique_ptr<AppendFile> file_;
  size_t found_ = 0;
  std::string difference_;
};

/// Batches of texts of about the same cost: the largest first, at most `texts` in each, whose number times the largest
/// cost is at most `cost`; a text that costs more is alone.
ExplanationBatches batches_by_cost(const std::vector<int64_t>& costs, int64_t cost, size_t texts);

}  // namespace heed::cli
