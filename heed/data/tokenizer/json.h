// tokenizer.json, the format of Hugging Face's package `tokenizers`. The package encodes and decodes written files with
// the same result. Files of other programs are read if they use only the features that spec.h lists; other features are
// refused by name. Files are untrusted: every inconsistency is an Error that names the file.

#pragma once

#include <string>

#include "heed/data/tokenizer/spec.h"

namespace heed {

std::string tokenizer_json(const TokenizerSpec& spec);

/// path: the file in messages.
TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& path);

}  // namespace heed
