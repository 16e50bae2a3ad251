// The tokenizers of BLEU, under the names that sacreBLEU gives them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Known names: "13a" (mteval-v13a), "zh", "intl" (mteval-v14), "char", "none"
std::vector<std::string> bleu_tokenizers();

using BleuTokenizer = std::vector<std::string> (*)(std::string_view line);
/// The tokenizer of that name; an unknown name is an Error.
BleuTokenizer bleu_tokenizer(const std::string& name);

}  // namespace heed
