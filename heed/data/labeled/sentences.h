// Splits a document into its sentences, for structures that read words first and sentences after that.
//
// By rule: a sentence ends after . ! ? or … and the quotes and brackets that close after it, if whitespace follows and
// the next word does not begin with a lower-case letter; after 。 ！ ？ it ends without whitespace too. <br /> ends
// one. A single dot ends none after an abbreviation: Mr. vs. etc., letters with dots (U.S., e.g.), and the initial of a
// name (J. Smith), which I is not. The rule has no dictionary, so it errs where a sentence ends in an abbreviation.
//
// By TAB: where the text is split already.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The sentences in order, without whitespace around them and with blanks for TABs; none is empty, and a document
/// without text has none. Joined by TABs they are split again by sentences_by_tab, whatever is done to them in between.
std::vector<std::string> sentences_by_rule(std::string_view document);
std::vector<std::string> sentences_by_tab(std::string_view document);

}  // namespace heed
