// The cards of every part, asked from the catalogues. A part is made to see its parameters and options, so this needs
// torch; printing cards does not (list.h).
//
// Shapes are written in symbols. A part is asked for its parameters at widths that are powers of 1000, so that a size
// such as 1'003'000'000 can be read back as Dq + 3 Dk; a size that follows an option is found by changing it.

#pragma once

#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// In the order of the families and, within one, of choice.
std::vector<Card> collect_cards();

}  // namespace heed::cli
