// tokenizer.json, the file of Hugging Face's package `tokenizers`: written so that the package gives the same pieces
// and decodes the same text; read whoever wrote it, as long as it asks for nothing but what spec.h lists. The rest is
// refused by name. A file may come from anywhere: whatever is wrong with it is an Error that names it.

#pragma once

#include <string>

#include "heed/data/tokenizer/spec.h"

namespace heed {

std::string tokenizer_json(const TokenizerSpec& spec);

/// path: how errors call the text.
TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& path);

}  // namespace heed
