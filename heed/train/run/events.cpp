#include "heed/train/run/events.h"

#include <bit>
#include <string_view>
#include <type_traits>

#include "heed/train/run/crc32c.h"

namespace heed {
namespace {

template <typename Number>
std::string little_endian(Number number) {
  using Bits = std::conditional_t<sizeof(Number) == 8, uint64_t, uint32_t>;
  const auto bits = std::bit_cast<Bits>(number);
  std::string bytes;
  for (size_t i = 0; i < sizeof(Bits); ++i) bytes += static_cast<char>((bits >> (8 * i)) & 0xFFU);
  return bytes;
}

// ---- protocol buffers: a field is its number and wire type (0 varint, 1 eight bytes, 2 length and bytes, 5 four) ----

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(number);
}

std::string key(unsigned field, unsigned wire) {
  return varint((field << 3) | wire);
}
std::string integer_field(unsigned field, int64_t value) {
  return key(field, 0) + varint(static_cast<uint64_t>(value));
}
std::string double_field(unsigned field, double value) {
  return key(field, 1) + little_endian(value);
}
std::string float_field(unsigned field, float value) {
  return key(field, 5) + little_endian(value);
}
std::string bytes_field(unsigned field, std::string_view bytes) {
  return key(field, 2) + varint(bytes.size()) + std::string(bytes);
}

// ---- records ----

/// The masked CRC of TensorFlow: rotated, plus a constant, because a CRC over data that contains CRCs is weak.
uint32_t masked(uint32_t crc) {
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

std::string record(const std::string& event) {
  const std::string length = little_endian(static_cast<uint64_t>(event.size()));
  return length + little_endian(masked(crc32c(length))) + event + little_endian(masked(crc32c(event)));
}

std::string version_event(double wall_time) {
  return double_field(1, wall_time) + bytes_field(3, "brain.Event:2");
}

std::string scalars_event(int64_t step, const std::vector<std::pair<std::string, double>>& values, double wall_time) {
  std::string summary;
  for (const auto& [tag, value] : values)
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  return double_field(1, wall_time) + integer_field(2, step) + bytes_field(5, summary);
}

}  // namespace

void Events::write(int64_t step, const std::vector<std::pair<std::string, double>>& values, double wall_time) {
  const std::string version = file_.empty() ? record(version_event(wall_time)) : "";
  file_.append(version + record(scalars_event(step, values, wall_time)));
}

}  // namespace heed
