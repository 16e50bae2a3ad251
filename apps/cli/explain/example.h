// Texts with weights, as HTML that needs no script: each token on the color of its weight.

#pragma once

#include <string>
#include <string_view>

#include "heed/data/explanation.h"

namespace heed::cli {

std::string html_example(const ExplanationExample& example);

/// What the colors say, with the scale.
std::string html_legend_of_examples();

/// Zero is paper and the largest weight of a map a blue that black text is readable on, as in the tool of Jain &
/// Wallace: it differs in brightness too, so it can be read in gray and without color vision, and takes little ink.
/// Negative weights are orange, and underlined.
std::string style_of_examples();

/// A token for a narrow page: control characters and those that change the direction of text are visible, and a long
/// one is cut.
std::string shown_token(const std::string& token);

}  // namespace heed::cli
