#include "heed/data/labeled/rationales.h"

#include <cmath>
#include <map>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"
#include "heed/data/labeled/examples.h"
#include "heed/data/labeled/table.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

Rationale parse_rationale(const std::string& field, const std::string& origin) {
  Rationale all{{}, origin};
  for (const auto& word : whitespace_words(field)) {
    double weight = 0;
    check(read_number(word, weight) && weight >= 0 && std::isfinite(weight), "data/rationales: ", origin,
          ": got the weight '", excerpt(word), "', expected numbers of at least 0, one for each word of the text");
    all.weights.push_back(weight);
  }
  return all;
}

void join_rationales(Examples& examples, const std::string& file) {
  const Table table = read_table(file, {.format = "tsv", .header = "false"});
  std::map<std::string, Rationale> by_id;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto& fields = table.records[i];
    check(fields.size() > 1, "data/rationales: ", table.where(i), ": got 1 column, expected an id and weights");
    const bool is_new = by_id.emplace(fields.front(), parse_rationale(fields.back(), table.where(i))).second;
    check(is_new, "data/rationales: ", table.where(i), ": got the id '", excerpt(fields.front()),
          "' again, expected each once");
  }
  size_t found = 0;
  examples.rationales.assign(examples.size(), {});
  for (size_t i = 0; i < examples.size(); ++i)
    if (const auto one = by_id.find(examples.ids[i]); one != by_id.end()) {
      examples.rationales[i] = one->second;
      ++found;
    }
  check(found > 0, "data/rationales: ", file, ": got none of the ids of the examples in its first column, expected ",
        "some; check data.id");
}

}  // namespace heed
