#include "apps/cli/eval_metric/file_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/md5.h"
#include "heed/base/scalar.h"
#include "heed/data/file.h"

namespace heed::cli {

std::vector<std::string> FileReader::lines(const std::string& path, const std::string& expected) {
  std::error_code unknown;  // standard input, and files that cannot be read
  const auto bytes = std::filesystem::file_size(path, unknown);
  check(unknown || bytes > 0, "eval: ", path, " is empty, expected ", expected, " on each line");
  auto all = lines_(path);
  hashes_[path] = md5_of_lines(all);
  return all;
}

std::vector<std::string> FileReader::lines_beside(const std::string& path, const std::string& first_path,
                                                  size_t first_lines, const std::string& expected) {
  auto all = lines(path, expected);
  check(all.size() == first_lines, "eval: ", first_path, " has ", first_lines, " lines but ", path, " has ", all.size(),
        ", expected the same number of lines");
  return all;
}

std::string FileReader::bytes(const std::string& path, const std::string& set) {
  std::string all = read_file(path);
  of_sets_[set][path] = md5_hex(all);
  return all;
}

std::map<std::string, std::set<std::string>> FileReader::hashes() const {
  std::map<std::string, std::set<std::string>> all;
  for (const auto& [path, hash] : hashes_) all[path] = {hash};
  for (const auto& [set, files] : of_sets_) {
    std::vector<std::string> hashes;
    for (const auto& [path, hash] : files) hashes.push_back(hash);
    all[set] = {hashes.size() == 1 ? hashes.front() : md5_of_lines(hashes)};
  }
  return all;
}

std::string at_line(const std::string& path, size_t index) {
  return "eval: " + path + ":" + std::to_string(index + 1) + ": ";
}

std::vector<std::string> parts_of(const std::string& text) {
  constexpr const char* kBetween = " \t";
  std::vector<std::string> all;
  for (size_t begin = text.find_first_not_of(kBetween); begin != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    all.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
  return all;
}

void check_plain(const std::string& path, size_t index, const std::string& text) {
  constexpr unsigned char kDelete = 0x7F;
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < ' ' && c != '\t') || code == kDelete;
  });
  check(plain, at_line(path, index), "got '", excerpt(text),
        "', expected text without control characters; is it a binary file, or UTF-16?");
}

double finite_number_of(const std::string& path, size_t index, const std::string& text, const std::string& expected) {
  double value = 0;
  check(read_number(text, value) && std::isfinite(value), at_line(path, index), "got '", excerpt(text), "', expected ",
        expected, ", finite and with a decimal point, as -1.5 or 2e-3");
  return value;
}

}  // namespace heed::cli
