#include "heed/data/safetensors.h"

#include <algorithm>
#include <bit>
#include <iomanip>
#include <sstream>

#include <zlib.h>

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian and are copied byte for byte");

constexpr uint64_t kLengthBytes = 8;

std::string read_header(const std::string& path, const InputFile& file) {
  if (file.size() < kLengthBytes)
    refuse_safetensors(path, "has ", file.size(), " bytes, expected at least ", kLengthBytes,
                       "; this is no safetensors file");
  uint64_t length = 0;
  file.read(&length, kLengthBytes, 0);
  const uint64_t rest = file.size() - kLengthBytes;
  if (length > rest)
    refuse_safetensors(path, "the header should have ", length, " bytes, but ", rest,
                       " follow; the file is cut short or no safetensors file");
  if (length > kMaxHeaderBytes)
    refuse_safetensors(path, "the header has ", length, " bytes, expected at most ", kMaxHeaderBytes);
  std::string text(length, ' ');
  file.read(text.data(), length, kLengthBytes);
  return text;
}

/// Order in the file: widest elements first, then by name.
void sort_for_writing(std::vector<TensorBytes>& tensors) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorBytes& a, const TensorBytes& b) { return a.dtype > b.dtype; });
}

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
  /// Adds the length too, so that different sequences of texts have different checksums.
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

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
  const std::string text = read_header(path, file_);
  data_start_ = kLengthBytes + text.size();
  header_ = parse_safetensors_header(path, text);
  order_ = in_file_order(path, header_, file_.size() - data_start_);
}

void SafetensorsFile::read(const NamedEntry& named, void* to) const {
  const auto& [name, entry] = named;
  file_.read(to, entry.bytes(), data_start_ + entry.begin());
  if (entry.dtype->name != "BOOL") return;
  const auto *first = static_cast<const unsigned char*>(to), *past = first + entry.bytes();
  const auto* wrong = std::find_if(first, past, [](unsigned char byte) { return byte > 1; });
  if (wrong != past)
    refuse_safetensors(path_, "tensor ", shown_name(name), " is BOOL and holds a byte ", int{*wrong},
                       ", expected 0 or 1");
}

uint64_t TensorBytes::bytes() const {
  int64_t product = dtype->bytes;
  for (const int64_t size : shape) product *= size;
  return static_cast<uint64_t>(product);
}

void write_safetensors(const std::string& path, std::vector<TensorBytes> tensors, const Metadata& metadata) {
  sort_for_writing(tensors);
  std::vector<std::pair<std::string, TensorEntry>> entries;
  int64_t begin = 0;
  for (const auto& tensor : tensors) {
    const int64_t end = begin + static_cast<int64_t>(tensor.bytes());
    entries.push_back({tensor.name, {tensor.dtype, tensor.shape, {begin, end}}});
    begin = end;
  }
  const std::string header = safetensors_header_text(path, entries, metadata);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write(&length, kLengthBytes);
  file.write(header.data(), length);
  for (const auto& tensor : tensors) file.write(tensor.data().get(), tensor.bytes());
  file.finish();
}

std::string safetensors_checksum(std::vector<TensorBytes> tensors, const Metadata& metadata) {
  sort_for_writing(tensors);
  Checksum sum;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksum) continue;
    sum.add(key);
    sum.add(text);
  }
  for (const auto& tensor : tensors) {
    sum.add(tensor.name);
    sum.add(std::string(tensor.dtype->name) + shape_text(tensor.shape));
    sum.add(tensor.data().get(), tensor.bytes());
  }
  return sum.text();
}

}  // namespace heed
