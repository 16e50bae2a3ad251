// Collects the cards of every part from the catalogues. It constructs each part to list its parameters and options, so
// it needs torch; printing cards does not (list.h).
//
// Shapes are written in symbols. The parameters of a part are declared at widths that are powers of 1000, so that a
// size is decoded digit by digit: 3'000'001'000 is Dq + 3 Dv. A size that depends on an option is found by changing the
// option.

#pragma once

#include <vector>

#include "apps/cli/list_card.h"

namespace heed::cli {

/// Sorted as by sort_cards().
std::vector<Card> collect_cards();

}  // namespace heed::cli
