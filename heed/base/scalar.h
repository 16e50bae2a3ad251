// Text to numbers and booleans and back, by YAML's rules, independent of the locale.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// Accepts 3, -.5, +1e-3, .inf; not "inf", "nan" or "3 %". If the result is false, value is unspecified.
bool read_number(std::string_view text, double& value);

/// Accepts integers, also as 1e5 or 3.0.
bool read_integer(std::string_view text, int64_t& value);

/// Accepts true, yes, on; false, no, off.
bool read_flag(std::string_view text, bool& value);

/// The shortest decimal that reads back as the same double, with a point before e, which some YAML parsers require.
std::string written_number(double value);

/// Whether YAML would read an unquoted text as a number, a boolean or null.
bool needs_quotes(const std::string& text);

}  // namespace heed
