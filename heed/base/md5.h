// MD5 (RFC 1321). Not for cryptography: it splits lines into training, development and test in a way that any language
// can reproduce:   int(hashlib.md5(line.encode()).hexdigest(), 16) % 20   in Python.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

std::array<uint8_t, 16> md5(std::string_view text);

/// 32 hexadecimal digits, as printed by md5sum.
std::string md5_hex(std::string_view text);

/// A chained hash of lines: the md5 of the previous hash and the next line, as hexadecimal digits.
std::string md5_of_lines(const std::vector<std::string>& lines);

/// The digest as a big-endian 128-bit integer, modulo n >= 1.
uint64_t md5_modulo(std::string_view text, uint64_t n);

}  // namespace heed
