// The general categories of Unicode that the tokenizers need.

#pragma once

namespace heed {

bool is_punctuation(char32_t character);  // P
bool is_number(char32_t character);       // N
bool is_symbol(char32_t character);       // S

}  // namespace heed
