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

/// What brackets after figures are.
std::string interval_note();

/// The arguments of a call of heed explain with other tests: the value of --tests is replaced, or added at the end.
std::vector<std::string> with_tests(std::vector<std::string> arguments, const std::string& tests);

/// Commands that follow, which work when they are pasted. more: the arguments of a call that runs the tests that are
/// left, without the program; empty: none are left.
std::vector<std::string> next_commands(const Explanation& explanation, const std::vector<std::string>& more);

}  // namespace heed::cli
