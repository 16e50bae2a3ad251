#include "heed/data/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iomanip>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/nn/module.h>
#include <zlib.h>

#include "heed/base/check.h"
#include "heed/data/file.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian and are copied byte for byte");

using Json = nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit
constexpr size_t kMaxAxes = 64;                    // torch's own limit in most of its functions
constexpr const char* kMetadata = "__metadata__";

struct Kind {
  const char* word;
  at::ScalarType type;
};

// In the order of the reference implementation, which writes the last kind first: wide elements come before narrow
// ones, so every tensor starts at a multiple of its element's size.
constexpr std::array<Kind, 10> kKinds = {{{"BOOL", at::kBool},
                                          {"U8", at::kByte},
                                          {"I8", at::kChar},
                                          {"I16", at::kShort},
                                          {"F16", at::kHalf},
                                          {"BF16", at::kBFloat16},
                                          {"I32", at::kInt},
                                          {"F32", at::kFloat},
                                          {"F64", at::kDouble},
                                          {"I64", at::kLong}}};

const Kind* find_kind(at::ScalarType type) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.type == type; });
  return found == kKinds.end() ? nullptr : &*found;
}

const Kind* find_kind(std::string_view word) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.word == word; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string known_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.word);
  return joined(names);
}

/// Follows an `if`, not in a check(): a header may name a million tensors, and words about each would take their
/// time.
template <typename... Parts>
[[noreturn]] void refuse(const std::string& path, const Parts&... parts) {
  fail("data/safetensors: ", path, ": ", parts...);
}

/// 'name', with control characters escaped and of bounded length: it may come out of a hostile file.
std::string shown(const std::string& name) {
  constexpr size_t kMax = 100;
  const std::string text = Json(name.substr(0, kMax)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return "'" + text.substr(1, text.size() - 2) + (name.size() > kMax ? "...'" : "'");
}

/// "'a', 'b' and 3 more"
std::string some_of(const std::vector<std::string>& items) {
  constexpr size_t kMax = 8;
  const size_t count = std::min(items.size(), kMax);
  const std::string text = joined({items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count)});
  return items.size() > count ? text + " and " + std::to_string(items.size() - count) + " more" : text;
}

std::string shape_text(at::IntArrayRef shape) {
  return Json(shape.vec()).dump();
}

// ---- the header ----

struct Entry {
  const Kind* kind = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // begin, end

  uint64_t begin() const { return static_cast<uint64_t>(offsets[0]); }
  uint64_t end() const { return static_cast<uint64_t>(offsets[1]); }
};

using Entries = std::map<std::string, Entry>;

struct Header {
  Entries entries;
  Metadata metadata;
};

/// Builds a Header while the JSON goes by. Without a tree in between, nested nonsense takes no memory, and a key that
/// comes twice is seen.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}
  Header take() { return std::move(header_); }

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
      if (!fresh) refuse(path_, "the header names ", shown(word), " twice, expected each name once");
      return true;
    }
    field_ = word;
    if (state_ == ParserState::metadata) {
      if (!header_.metadata.try_emplace(word).second)
        refuse(path_, kMetadata, " has the key ", shown(word), " twice, expected each key once");
      return true;
    }
    const bool known = word == "dtype" || word == "shape" || word == "data_offsets";
    if (!known)
      refuse(path_, "tensor ", shown(name_), " has a field ", shown(word),
             ", expected only dtype, shape and data_offsets");
    if (!fields_.insert(word).second) refuse(path_, "tensor ", shown(name_), " has ", word, " twice, expected it once");
    return true;
  }

  bool end_object() override {
    if (state_ == ParserState::entry) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (fields_.count(field) == 0)
          refuse(path_, "tensor ", shown(name_), " has no ", field, ", expected dtype, shape and data_offsets");
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
      entry().kind = find_kind(text);
      if (entry().kind == nullptr)
        refuse(path_, "dtype of ", shown(name_), " is ", shown(text), ", expected one of ", known_kinds());
    } else {
      unexpected("the text " + shown(text));
    }
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { unexpected("the negative number " + std::to_string(value)); }
  bool number_float(double, const std::string& text) override { unexpected("the number " + shown(text)); }
  bool binary(Json::binary_t&) override { unexpected("binary data"); }

  bool parse_error(size_t position, const std::string& token, const nlohmann::detail::exception&) override {
    refuse(path_, "the header is no JSON from its byte ", position, " on, at ", shown(token), "; the file is damaged");
  }

 private:
  enum class ParserState { outside, names, entry, metadata };

  Entry& entry() { return header_.entries.find(name_)->second; }
  bool takes_list() const { return state_ == ParserState::entry && field_ != "dtype"; }

  [[noreturn]] void unexpected(const std::string& what) const {
    if (state_ == ParserState::outside)
      refuse(path_, "the header is ", what, ", expected an object of tensors by name");
    if (state_ == ParserState::metadata)
      refuse(path_, kMetadata, " ", shown(field_), " is ", what, ", expected a text");
    if (state_ == ParserState::names && name_ == kMetadata)
      refuse(path_, kMetadata, " is ", what, ", expected an object of texts");
    if (state_ == ParserState::names)
      refuse(path_, "tensor ", shown(name_), " is ", what, ", expected an object with dtype, shape and data_offsets");
    const std::string cure = field_ == "dtype" ? "one of " + known_kinds()
                             : field_ == "shape"
                                 ? "a list of at most " + std::to_string(kMaxAxes) + " whole numbers from 0 to 2^63 - 1"
                                 : std::string("a list of two whole numbers from 0 to 2^63 - 1");
    refuse(path_, field_, " of ", shown(name_), list_ == nullptr ? " is " : " holds ", what, ", expected ", cure);
  }

  const std::string& path_;
  Header header_;
  ParserState state_ = ParserState::outside;
  std::string name_, field_;              // the last key of the header, and of what stands under it
  std::set<std::string> fields_;          // of the present entry
  std::vector<int64_t>* list_ = nullptr;  // the list being read
  bool has_metadata_ = false;
};

Header parse_header(const std::string& path, const std::string& text) {
  if (text.empty() || text.front() != '{')
    refuse(path, "the header begins with ", shown(text.substr(0, 1)), ", expected '{'; this is no safetensors file");
  // The JSON parser would take a zero byte for the end of the text and never look at what follows.
  if (text.find('\0') != std::string::npos)
    refuse(path, "the header holds a zero byte, expected JSON padded with whitespace; the file is damaged");
  HeaderReader reader(path);
  Json::sax_parse(text, &reader);
  return reader.take();
}

/// Bytes of a tensor. An empty axis does not excuse the others: torch multiplies them all for the strides.
uint64_t bytes_of(const std::string& path, const std::string& name, const Entry& entry) {
  int64_t product = static_cast<int64_t>(c10::elementSize(entry.kind->type));
  bool fits = true, empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    fits = fits && !__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product);
  }
  if (!fits) refuse(path, "shape of ", shown(name), " is ", shape_text(entry.shape), ", expected less than 2^63 bytes");
  return empty ? 0 : static_cast<uint64_t>(product);
}

/// The tensors as they lie in the file, once it is certain that they fill its data from the first byte to the last.
std::vector<const Entries::value_type*> in_file_order(const std::string& path, const Entries& entries,
                                                      uint64_t data_bytes) {
  std::vector<const Entries::value_type*> order;
  for (const auto& named : entries) {
    const auto& [name, entry] = named;
    if (entry.begin() > entry.end())
      refuse(path, "data_offsets of ", shown(name), " are ", shape_text(entry.offsets), ", expected begin <= end");
    const uint64_t bytes = bytes_of(path, name, entry), got = entry.end() - entry.begin();
    if (got != bytes)
      refuse(path, "data_offsets of ", shown(name), " span ", got, " bytes, expected ", bytes, " (", entry.kind->word,
             " ", shape_text(entry.shape), ")");
    order.push_back(&named);
  }
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.offsets < b->second.offsets; });

  uint64_t position = 0;
  for (const auto* named : order) {
    const auto& [name, entry] = *named;
    if (entry.begin() > position)
      refuse(path, "bytes ", position, " to ", entry.begin(), " of the data belong to no tensor, expected ",
             shown(name), " to begin at ", position);
    if (entry.begin() < position)
      refuse(path, "tensor ", shown(name), " begins at byte ", entry.begin(), " of the data, inside another; expected ",
             position);
    position = entry.end();
  }
  if (position > data_bytes)
    refuse(path, "the data has ", data_bytes, " bytes, expected ", position,
           "; the file is cut short, fetch or save it again");
  if (position < data_bytes)
    refuse(path, "the data has ", data_bytes, " bytes, expected ", position, "; something was appended to the file");
  return order;
}

// ---- reading ----

std::string read_header(const std::string& path, const InputFile& file) {
  if (file.size() < kLengthBytes)
    refuse(path, "has ", file.size(), " bytes, expected at least ", kLengthBytes, "; this is no safetensors file");
  uint64_t length = 0;
  file.read(&length, kLengthBytes, 0);
  const uint64_t rest = file.size() - kLengthBytes;
  if (length > rest)
    refuse(path, "the header should have ", length, " bytes, but ", rest,
           " follow; the file is cut short or no safetensors file");
  if (length > kMaxHeaderBytes) refuse(path, "the header has ", length, " bytes, expected at most ", kMaxHeaderBytes);
  std::string text(length, ' ');
  file.read(text.data(), length, kLengthBytes);
  return text;
}

at::Tensor read_tensor(const std::string& path, const InputFile& file, uint64_t data_start, const std::string& name,
                       const Entry& entry) {
  const at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(at::kCPU).dtype(entry.kind->type));
  const uint64_t bytes = entry.end() - entry.begin();
  file.read(tensor.data_ptr(), bytes, data_start + entry.begin());
  if (entry.kind->type == at::kBool) {
    const auto* first = static_cast<const unsigned char*>(tensor.data_ptr());
    const auto* wrong = std::find_if(first, first + bytes, [](unsigned char byte) { return byte > 1; });
    if (wrong != first + bytes)
      refuse(path, "tensor ", shown(name), " is BOOL and holds a byte ", int{*wrong}, ", expected 0 or 1");
  }
  return tensor;
}

// ---- writing ----

std::string json_text(const std::string& path, const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    refuse(path, shown(text), " is not UTF-8, expected names and metadata in UTF-8");
  }
}

std::vector<const NamedTensors::value_type*> in_writing_order(const std::string& path, const NamedTensors& tensors) {
  std::vector<const NamedTensors::value_type*> order;
  for (const auto& named : tensors) {
    const auto& [name, tensor] = named;
    if (name == kMetadata)
      refuse(path, "a tensor is called ", kMetadata, ", which the format keeps for itself; expected another name");
    if (!tensor.defined()) refuse(path, "tensor ", shown(name), " is undefined, expected one with data");
    const bool plain = tensor.layout() == at::kStrided && !tensor.is_meta();
    if (!plain) refuse(path, "tensor ", shown(name), " is sparse or has no data, expected a dense one");
    if (find_kind(tensor.scalar_type()) == nullptr)
      refuse(path, "tensor ", shown(name), " is of type ", tensor.scalar_type(), ", expected one of ", known_kinds());
    order.push_back(&named);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {  // by name they are sorted already
    return find_kind(a->second.scalar_type()) > find_kind(b->second.scalar_type());
  });
  return order;
}

std::string header_text(const std::string& path, const std::vector<const NamedTensors::value_type*>& order,
                        const Metadata& metadata) {
  std::vector<std::string> items, texts;
  for (const auto& [key, text] : metadata) texts.push_back(json_text(path, key) + ":" + json_text(path, text));
  if (!texts.empty()) items.push_back(std::string("\"") + kMetadata + "\":{" + joined(texts, ",") + "}");

  uint64_t begin = 0;
  for (const auto* named : order) {
    const auto& [name, tensor] = *named;
    const uint64_t end = begin + tensor.nbytes();
    items.push_back(json_text(path, name) + ":{\"dtype\":\"" + find_kind(tensor.scalar_type())->word +
                    "\",\"shape\":" + shape_text(tensor.sizes()) + ",\"data_offsets\":[" + std::to_string(begin) + "," +
                    std::to_string(end) + "]}");
    begin = end;
  }
  std::string text = "{" + joined(items, ",") + "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes)
    refuse(path, "the header would have ", text.size(), " bytes, expected at most ", kMaxHeaderBytes);
  return text;
}

// ---- checksums ----

constexpr const char* kChecksum = "checksum";

class Checksum {
 public:
  void add(const void* from, uint64_t bytes) {
    const auto* next = static_cast<const Bytef*>(from);
    while (bytes > 0) {
      const auto part = static_cast<uInt>(std::min<uint64_t>(bytes, 1U << 30U));
      crc_ = ::crc32(crc_, next, part);
      next += part;
      bytes -= part;
    }
  }
  /// With its length, so that two texts never read as another two.
  void add(const std::string& text) {
    const uint64_t size = text.size();
    add(&size, sizeof size);
    add(text.data(), size);
  }
  std::string text() const {
    std::ostringstream out;
    out << "crc32:" << std::hex << std::setw(8) << std::setfill('0') << crc_;
    return out.str();
  }

 private:
  uLong crc_ = ::crc32(0, nullptr, 0);
};

at::Tensor plain_on_cpu(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU).resolve_neg().contiguous();
}

std::string checksum_of(const std::vector<const NamedTensors::value_type*>& order, const Metadata& metadata) {
  Checksum sum;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksum) continue;
    sum.add(key);
    sum.add(text);
  }
  for (const auto* named : order) {
    const at::Tensor plain = plain_on_cpu(named->second);
    sum.add(named->first);
    sum.add(find_kind(plain.scalar_type())->word + shape_text(plain.sizes()));
    sum.add(plain.data_ptr(), plain.nbytes());
  }
  return sum.text();
}

// ---- modules ----

std::vector<std::string> names_without(const NamedTensors& all, const NamedTensors& without) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : all) {
    if (without.count(name) == 0) names.push_back(shown(name));
  }
  return names;
}

std::string kind_text(const at::Tensor& tensor) {
  const Kind* kind = find_kind(tensor.scalar_type());
  return (kind != nullptr ? kind->word : std::string(c10::toString(tensor.scalar_type()))) + " " +
         shape_text(tensor.sizes());
}

void expect_same_form(const std::string& path, const NamedTensors& got, const NamedTensors& state) {
  const auto missing = names_without(state, got), surplus = names_without(got, state);
  const std::string lacks = missing.empty() ? "" : "lacks " + some_of(missing);
  const std::string extra = surplus.empty() ? "" : "has " + some_of(surplus) + ", which the model does not know";
  const std::string both = lacks + (lacks.empty() || extra.empty() ? "" : "; it ") + extra;
  if (!both.empty()) refuse(path, both, "; expected a file saved from the same model");

  std::vector<std::string> different;
  for (const auto& [name, tensor] : state) {
    const at::Tensor& other = got.at(name);
    const bool same = other.sizes() == tensor.sizes() && other.scalar_type() == tensor.scalar_type();
    if (!same) different.push_back(shown(name) + " is " + kind_text(other) + ", expected " + kind_text(tensor));
  }
  if (!different.empty())
    refuse(path, some_of(different), "; build the model with the sizes and the type it was saved with");
}

}  // namespace

Safetensors load_safetensors(const std::string& path) {
  const InputFile file(path);
  const std::string text = read_header(path, file);
  Header header = parse_header(path, text);
  const uint64_t data_start = kLengthBytes + text.size();
  Safetensors loaded;
  for (const auto* named : in_file_order(path, header.entries, file.size() - data_start)) {
    loaded.tensors.emplace(named->first, read_tensor(path, file, data_start, named->first, named->second));
  }
  loaded.metadata = std::move(header.metadata);
  return loaded;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  const auto order = in_writing_order(path, tensors);
  const std::string header = header_text(path, order, metadata);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write(&length, kLengthBytes);
  file.write(header.data(), length);
  for (const auto* named : order) {
    const at::Tensor plain = plain_on_cpu(named->second);  // one copy at a time, and only where needed
    file.write(plain.data_ptr(), plain.nbytes());
  }
  file.finish();
}

void save_checked(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  Metadata checked = metadata;
  checked[kChecksum] = checksum_of(in_writing_order(path, tensors), metadata);
  save_safetensors(path, tensors, checked);
}

void verify_checksum(const Safetensors& loaded, const std::string& path) {
  const auto found = loaded.metadata.find(kChecksum);
  if (found == loaded.metadata.end())
    refuse(path, "has no checksum, expected one in its metadata; the file is damaged");
  const std::string sum = checksum_of(in_writing_order(path, loaded.tensors), loaded.metadata);
  if (found->second != sum)
    refuse(path, "the checksum of its content is ", sum, ", expected ", shown(found->second),
           "; the file is damaged, restore it from a copy");
}

NamedTensors module_state(const torch::nn::Module& module) {
  NamedTensors state;
  for (const auto& item : module.named_parameters()) state.emplace(item.key(), item.value());
  for (const auto& item : module.named_buffers()) {
    check(state.emplace(item.key(), item.value()).second,
          "data/safetensors: the module has a parameter and a buffer called ", shown(item.key()),
          ", expected two names");
  }
  return state;
}

void save_parameters(const torch::nn::Module& module, const std::string& path, const Metadata& metadata) {
  save_safetensors(path, module_state(module), metadata);
}

void load_parameters(torch::nn::Module& module, const std::string& path) {
  load_parameters(module, load_safetensors(path).tensors, path);
}

void load_parameters(torch::nn::Module& module, const NamedTensors& tensors, const std::string& path) {
  NamedTensors state = module_state(module);
  expect_same_form(path, tensors, state);
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : state) tensor.copy_(tensors.at(name));
}

}  // namespace heed
