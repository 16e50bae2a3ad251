// What heed explain prints on a terminal: the tables and findings of tests, and what they say together.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "heed/data/explanation.h"

namespace heed::cli {

/// tests: those that are printed, of this call, with the first table of each; the verdict is over all results. columns:
/// of the terminal, 0: no limit.
void print_explanation(std::ostream& out, const Explanation& explanation, const std::vector<std::string>& tests,
                       int columns);

/// A text at most `columns` wide, in lines with an indent; 0: one line.
std::string wrapped(const std::string& text, int columns, const std::string& indent = "");

/// Commands that follow, which work when they are pasted. all_tests: whether every test has a result.
std::vector<std::string> next_commands(const Explanation& explanation, bool all_tests);

}  // namespace heed::cli
