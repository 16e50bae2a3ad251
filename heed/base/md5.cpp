#include "heed/base/md5.h"

#include <bit>
#include <cmath>

#include "heed/base/check.h"

namespace heed {
namespace {

using Words = std::array<uint32_t, 4>;  // A, B, C, D

/// The RFC's table T: the first 32 fractional bits of |sin(i)|, i = 1 ... 64, in radians.
std::array<uint32_t, 64> sines() {
  std::array<uint32_t, 64> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<uint32_t>(std::floor(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32));
  }
  return table;
}

uint32_t word_at(const unsigned char* bytes) {
  return bytes[0] | uint32_t{bytes[1]} << 8U | uint32_t{bytes[2]} << 16U | uint32_t{bytes[3]} << 24U;
}

/// Mixes 64 bytes into the state: four rounds of sixteen steps.
void mix(Words& state, const unsigned char* block) {
  static const std::array<uint32_t, 64> sine = sines();
  static constexpr int kRotation[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    const uint32_t f = round == 0   ? (b & c) | (~b & d)
                       : round == 1 ? (b & d) | (c & ~d)
                       : round == 2 ? b ^ c ^ d
                                    : c ^ (b | ~d);
    const uint32_t from = (round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i) % 16;
    const uint32_t rotated = std::rotl(a + f + sine[i] + word_at(block + size_t{4} * from), kRotation[round][i % 4]);
    a = d;
    d = c;
    c = b;
    b += rotated;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<uint8_t, 16> md5(std::string_view text) {
  Words state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const size_t whole = text.size() / 64 * 64;
  for (size_t at = 0; at < whole; at += 64) mix(state, bytes + at);

  // The remaining bytes, a one bit, zeros, and the number of bits in the last 8 bytes of a block.
  std::array<unsigned char, 128> last{};
  const size_t rest = text.size() - whole, blocks = rest < 56 ? 64 : 128;
  for (size_t i = 0; i < rest; ++i) last[i] = bytes[whole + i];
  last[rest] = 0x80;
  for (size_t i = 0; i < 8; ++i) {
    last[blocks - 8 + i] = static_cast<unsigned char>(uint64_t{text.size()} * 8 >> 8 * i);
  }
  for (size_t at = 0; at < blocks; at += 64) mix(state, last.data() + at);

  std::array<uint8_t, 16> digest{};
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> 8 * (i % 4));
  return digest;
}

std::string md5_hex(std::string_view text) {
  std::string digits;
  for (const unsigned byte : md5(text)) {
    digits += "0123456789abcdef"[byte >> 4U];
    digits += "0123456789abcdef"[byte & 15U];
  }
  return digits;
}

uint64_t md5_modulo(std::string_view text, uint64_t n) {
  check(n >= 1 && n <= (uint64_t{1} << 56U), "base/md5: got modulo ", n, ", expected 1 to 2^56");
  uint64_t rest = 0;
  for (const uint8_t byte : md5(text)) rest = (rest * 256 + byte) % n;
  return rest;
}

std::string md5_of_lines(const std::vector<std::string>& lines) {
  std::string hash;
  for (const auto& line : lines) {
    const auto digest = md5(hash + line);
    hash.assign(digest.begin(), digest.end());
  }
  return md5_hex(hash);
}

}  // namespace heed
