// The page heed(1), from what the parser knows.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace heed::cli {

/// In the language of man pages. The last line of the header names the version.
std::string manual(const CLI::App& app, const std::string& version);

}  // namespace heed::cli
