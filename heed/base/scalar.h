// Words that stand for numbers and for yes and no, by YAML's rules and the same in every locale.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// 3, -.5, +1e-3, .inf; not "inf", "nan" or "3 %". Where it is false, value may hold anything.
bool read_number(std::string_view text, double& value);

/// Numbers without a fraction, also as 1e5 or 3.0.
bool read_integer(std::string_view text, int64_t& value);

/// true, yes, on; false, no, off.
bool read_flag(std::string_view text, bool& value);

/// The shortest digits that read back the same, with a point before e, which some readers of YAML want.
std::string written_number(double value);

/// Whether a text would be taken for a number, for yes or no, or for nothing, unless it stands in quotes.
bool needs_quotes(const std::string& text);

}  // namespace heed
