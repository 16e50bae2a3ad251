// The words that BLEU counts: sacreBLEU's tokenizers, by its names for them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "13a" (mteval-v13a), "zh", "intl" (mteval-v14), "char", "none"
std::vector<std::string> bleu_tokenizers();

using BleuTokenizer = std::vector<std::string> (*)(std::string_view line);
BleuTokenizer bleu_tokenizer(const std::string& name);

}  // namespace heed
