#include "heed/data/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxAxes = 64;  // the limit of most torch functions
constexpr const char* kMetadata = "__metadata__";

/// Builds the header from SAX events. Without a tree, deep nesting takes no memory, and duplicate keys are detected.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(size_t) override {
    if (state_ == ParserState::outside) {
      state_ = ParserState::names;
    } else if (state_ == ParserState::names) {
      state_ = name_ == kMetadata ? ParserState::metadata : ParserState::entry;
      fields_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& word) override {
    if (state_ == ParserState::names) {
      name_ = word;
      const bool fresh =
          word == kMetadata ? !std::exchange(has_metadata_, true) : header_.entries.try_emplace(word).second;
      if (!fresh) refuse_safetensors(path_, "the header names ", shown_name(word), " twice, expected each name once");
      return true;
    }
    field_ = word;
    if (state_ == ParserState::metadata) {
      if (!header_.metadata.try_emplace(word).second)
        refuse_safetensors(path_, kMetadata, " has the key ", shown_name(word), " twice, expected each key once");
      return true;
    }
    const bool known = word == "dtype" || word == "shape" || word == "data_offsets";
    if (!known)
      refuse_safetensors(path_, "tensor ", shown_name(name_), " has a field ", shown_name(word),
                         ", expected only dtype, shape and data_offsets");
    if (!fields_.insert(word).second)
      refuse_safetensors(path_, "tensor ", shown_name(name_), " has ", word, " twice, expected it once");
    return true;
  }

  bool end_object() override {
    if (state_ == ParserState::entry) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (fields_.count(field) == 0)
          refuse_safetensors(path_, "tensor ", shown_name(name_), " has no ", field,
                             ", expected dtype, shape and data_offsets");
      }
    }
    state_ = state_ == ParserState::names ? ParserState::outside : ParserState::names;
    return true;
  }

  bool start_array(size_t) override {
    if (list_ != nullptr || !takes_list()) unexpected("a list");
    list_ = field_ == "shape" ? &entry().shape : &entry().offsets;
    return true;
  }

  bool end_array() override {
    list_ = nullptr;
    if (field_ == "data_offsets" && entry().offsets.size() != 2)
      unexpected("a list of " + std::to_string(entry().offsets.size()));
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    const size_t max = field_ == "shape" ? kMaxAxes : 2;
    if (list_ == nullptr || value > std::numeric_limits<int64_t>::max()) unexpected(std::to_string(value));
    if (list_->size() == max) unexpected("a list of more than " + std::to_string(max));
    list_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& text) override {
    if (state_ == ParserState::metadata) {
      header_.metadata[field_] = text;
    } else if (state_ == ParserState::entry && field_ == "dtype") {
      entry().dtype = find_dtype(text);
      if (entry().dtype == nullptr)
        refuse_safetensors(path_, "dtype of ", shown_name(name_), " is ", shown_name(text), ", expected one of ",
                           known_dtypes());
    } else {
      unexpected("the text " + shown_name(text));
    }
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { unexpected("the negative number " + std::to_string(value)); }
  bool number_float(double, const std::string& text) override { unexpected("the number " + shown_name(text)); }
  bool binary(Json::binary_t&) override { unexpected("binary data"); }

  bool parse_error(size_t position, const std::string& token, const nlohmann::detail::exception&) override {
    refuse_safetensors(path_, "the header is no JSON from its byte ", position, " on, at ", shown_name(token),
                       "; the file is damaged");
  }

 private:
  enum class ParserState { outside, names, entry, metadata };

  TensorEntry& entry() { return header_.entries.find(name_)->second; }
  bool takes_list() const { return state_ == ParserState::entry && field_ != "dtype"; }

  [[noreturn]] void unexpected(const std::string& what) const {
    if (state_ == ParserState::outside)
      refuse_safetensors(path_, "the header is ", what, ", expected an object of tensors by name");
    if (state_ == ParserState::metadata)
      refuse_safetensors(path_, kMetadata, " ", shown_name(field_), " is ", what, ", expected a text");
    if (state_ == ParserState::names && name_ == kMetadata)
      refuse_safetensors(path_, kMetadata, " is ", what, ", expected an object of texts");
    if (state_ == ParserState::names)
      refuse_safetensors(path_, "tensor ", shown_name(name_), " is ", what,
                         ", expected an object with dtype, shape and data_offsets");
    const std::string cure = field_ == "dtype" ? "one of " + known_dtypes()
                             : field_ == "shape"
                                 ? "a list of at most " + std::to_string(kMaxAxes) + " whole numbers from 0 to 2^63 - 1"
                                 : std::string("a list of two whole numbers from 0 to 2^63 - 1");
    refuse_safetensors(path_, field_, " of ", shown_name(name_), list_ == nullptr ? " is " : " holds ", what,
                       ", expected ", cure);
  }

  const std::string& path_;
  SafetensorsHeader header_;
  ParserState state_ = ParserState::outside;
  std::string name_, field_;              // current key of the header, and of the object below it
  std::set<std::string> fields_;          // fields of the current entry
  std::vector<int64_t>* list_ = nullptr;  // the list being read
  bool has_metadata_ = false;
};

/// Size of a tensor in bytes. The other axes are checked for overflow even if one is 0: torch multiplies them for the
/// strides.
uint64_t bytes_of(const std::string& path, const std::string& name, const TensorEntry& entry) {
  int64_t product = entry.dtype->bytes;
  bool fits = true, empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    fits = fits && !__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product);
  }
  if (!fits)
    refuse_safetensors(path, "shape of ", shown_name(name), " is ", shape_text(entry.shape),
                       ", expected less than 2^63 bytes");
  return empty ? 0 : static_cast<uint64_t>(product);
}

std::string json_text(const std::string& path, const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    refuse_safetensors(path, shown_name(text), " is not UTF-8, expected names and metadata in UTF-8");
  }
}

}  // namespace

const Dtype* find_dtype(std::string_view name) {
  const auto* found =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& type) { return type.name == name; });
  return found == kDtypes.end() ? nullptr : found;
}

std::string known_dtypes() {
  std::vector<std::string> names;
  for (const Dtype& type : kDtypes) names.emplace_back(type.name);
  return joined(names);
}

std::string shown_name(const std::string& name) {
  constexpr size_t kMax = 100;
  const std::string text = Json(name.substr(0, kMax)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return "'" + text.substr(1, text.size() - 2) + (name.size() > kMax ? "...'" : "'");
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return Json(shape).dump();
}

SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text) {
  if (text.empty() || text.front() != '{')
    refuse_safetensors(path, "the header begins with ", shown_name(text.substr(0, 1)),
                       ", expected '{'; this is no safetensors file");
  // The JSON parser would take a zero byte for the end of the text and ignore the rest.
  if (text.find('\0') != std::string::npos)
    refuse_safetensors(path, "the header holds a zero byte, expected JSON padded with whitespace; the file is damaged");
  HeaderReader reader(path);
  Json::sax_parse(text, &reader);
  return reader.take();
}

std::vector<const NamedEntry*> in_file_order(const std::string& path, const SafetensorsHeader& header,
                                             uint64_t data_bytes) {
  std::vector<const NamedEntry*> order;
  for (const auto& named : header.entries) {
    const auto& [name, entry] = named;
    if (entry.begin() > entry.end())
      refuse_safetensors(path, "data_offsets of ", shown_name(name), " are ", shape_text(entry.offsets),
                         ", expected begin <= end");
    const uint64_t bytes = bytes_of(path, name, entry), got = entry.bytes();
    if (got != bytes)
      refuse_safetensors(path, "data_offsets of ", shown_name(name), " span ", got, " bytes, expected ", bytes, " (",
                         entry.dtype->name, " ", shape_text(entry.shape), ")");
    order.push_back(&named);
  }
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.offsets < b->second.offsets; });

  uint64_t position = 0;
  for (const auto* named : order) {
    const auto& [name, entry] = *named;
    if (entry.begin() > position)
      refuse_safetensors(path, "bytes ", position, " to ", entry.begin(), " of the data belong to no tensor, expected ",
                         shown_name(name), " to begin at ", position);
    if (entry.begin() < position)
      refuse_safetensors(path, "tensor ", shown_name(name), " begins at byte ", entry.begin(),
                         " of the data, inside another; expected ", position);
    position = entry.end();
  }
  if (position > data_bytes)
    refuse_safetensors(path, "the data has ", data_bytes, " bytes, expected ", position,
                       "; the file is cut short, fetch or save it again");
  if (position < data_bytes)
    refuse_safetensors(path, "the data has ", data_bytes, " bytes, expected ", position,
                       "; something was appended to the file");
  return order;
}

std::string safetensors_header_text(const std::string& path,
                                    const std::vector<std::pair<std::string, TensorEntry>>& order,
                                    const Metadata& metadata) {
  std::vector<std::string> items, texts;
  for (const auto& [key, text] : metadata) texts.push_back(json_text(path, key) + ":" + json_text(path, text));
  if (!texts.empty()) items.push_back(std::string("\"") + kMetadata + "\":{" + joined(texts, ",") + "}");
  for (const auto& [name, entry] : order) {
    if (name == kMetadata)
      refuse_safetensors(path, "a tensor is called ", kMetadata,
                         ", which the format keeps for itself; expected another name");
    items.push_back(json_text(path, name) + ":{\"dtype\":\"" + std::string(entry.dtype->name) +
                    "\",\"shape\":" + shape_text(entry.shape) + ",\"data_offsets\":" + shape_text(entry.offsets) + "}");
  }
  std::string text = "{" + joined(items, ",") + "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes)
    refuse_safetensors(path, "the header would have ", text.size(), " bytes, expected at most ", kMaxHeaderBytes);
  return text;
}

}  // namespace heed
