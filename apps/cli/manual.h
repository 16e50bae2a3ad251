// The manual page heed(1), generated from the commands and options of the parser.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace heed::cli {

/// The page in roff. Its header names the version.
std::string manual(const CLI::App& app, const std::string& version);

}  // namespace heed::cli
