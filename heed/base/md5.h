// MD5 (RFC 1321): 128 bits of any text. Not for secrets; it deals lines out to training, development and test in a way
// that every language can repeat:   int(hashlib.md5(line.encode()).hexdigest(), 16) % 20   in Python.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

std::array<uint8_t, 16> md5(std::string_view text);

/// Its 32 digits, as md5sum prints them.
std::string md5_hex(std::string_view text);

/// The digest as one number of 128 bits, the first byte the highest, modulo n; n is at least 1.
uint64_t md5_modulo(std::string_view text, uint64_t n);

}  // namespace heed
