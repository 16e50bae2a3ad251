// Tokenizers and recipes. Needs no torch.

#pragma once

#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"
