// The texts of an example, as commands for classifiers read them.

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "heed/models/classify/text_reader.h"

namespace heed::cli {

/// The texts of a line, one for each column of the run, separated by tabs. Throws Error, with `where`, if the number
/// differs.
std::vector<std::string> texts_of(const std::string& line, const TextReader& reader, const std::string& where);

/// Says how many texts were cut, if any: "heed: classify: cut 2 texts after data.max_length = 512 tokens, as in
/// training".
void print_cut(std::ostream& out, const std::string& command, const TextReader& reader, int64_t count);

}  // namespace heed::cli
