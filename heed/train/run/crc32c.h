// CRC-32C (Castagnoli), polynomial 0x1EDC6F41, bits reversed; of "123456789" it is 0xE3069283.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heed {

inline uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);
      table[i] = rest;
    }
    return table;
  }();
  uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~crc;
}

}  // namespace heed
