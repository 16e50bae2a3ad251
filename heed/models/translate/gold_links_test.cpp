// Link extraction on three sets of real sentences with gold links: attention weights on exactly the gold words must
// give exactly the gold links, whatever the tokenizer's vocabulary. The data are in the folder HEED_DATA.

#include <algorithm>
#include <iostream>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "heed/base/links.h"
#include "heed/data/parallel_text.h"
#include "heed/data/testing.h"
#include "heed/data/text_file.h"
#include "heed/metrics/alignment_error.h"
#include "heed/models/translate/translator.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

struct GoldSet {
  std::string folder, gold;
  std::vector<std::string> texts;  // source and target, or one file with both
  bool from_one;
  size_t pairs;
  int64_t out_of_range;
};

const std::vector<GoldSet> kSets{
    {"align-deen-europarl100", "de-en.wa", {"test.de", "test.en"}, false, 100, 1},
    {"align-enfr-hansards", "enfr.gold", {"enfr.src-tgt"}, true, 447, 0},
    {"align-zhen-tsinghua", "zhen.gold", {"zhen.src-tgt"}, true, 450, 0},
};

const Lines kGoldTokenizers{"words(vocabulary=500)", "bpe(merges=200)", "characters"};

/// Every tenth word in characters that no tokenizer has seen; positions stay.
Lines with_unknown_words(const Lines& lines) {
  Lines out;
  size_t seen = 0;
  for (const auto& line : lines) {
    auto words = whitespace_words(line);
    for (auto& word : words)
      if (seen++ % 10 == 0) word = seen % 20 == 1 ? "\U0001F996\U0001F995" : "\U0001F996";
    std::string text;  // like joined(), with unusual whitespace in some positions
    for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i % 7 == 0 ? "  " : " ") + words[i];
    out.push_back(text);
  }
  return out;
}

/// The first gold link of each target word.
Links first_links(const Links& gold) {
  std::map<int64_t, int64_t> first;
  for (const Link& link : gold) first.emplace(link.target, link.source);
  Links links;
  for (const auto& [target, source] : first) links.push_back({source, target});
  std::sort(links.begin(), links.end());
  return links;
}

/// Weight 1 on one of the tokens of the linked word, a different one for each token of the target word.
WeightRows one_hot(const Segmentation& source, const Segmentation& target, const Links& links) {
  WeightRows weights(target.ids.size() + 1, std::vector<double>(source.ids.size() + 1));
  for (size_t t = 0; t < target.ids.size(); ++t) {
    const auto link =
        std::find_if(links.begin(), links.end(), [&](const Link& l) { return l.target == target.word[t]; });
    if (link == links.end()) {
      weights[t].back() = 1;  // words without a link attend to the end marker
      continue;
    }
    std::vector<size_t> tokens;
    for (size_t s = 0; s < source.ids.size(); ++s)
      if (source.word[s] == link->source) tokens.push_back(s);
    if (!tokens.empty()) weights[t][tokens[t % tokens.size()]] = 1;
  }
  weights.back().back() = 1;
  return weights;
}

class GoldLinks : public ::testing::TestWithParam<std::tuple<GoldSet, std::string, bool>> {};

TEST_P(GoldLinks, ComeBackFromWeightsOnTheirWords) {
  const auto& [set, tokenizer, unknown] = GetParam();
  const std::string folder = data_folder() + set.folder + "/";
  if (!exists(folder + set.gold)) GTEST_SKIP() << folder << " is not there; HEED_DATA names the folder of data";
  TextOptions options;
  for (const auto& file : set.texts) options.files.push_back(folder + file);
  ParallelText text = read_parallel(options);
  const auto gold_lines = read_lines(folder + set.gold);
  ASSERT_EQ(text.size(), set.pairs);
  ASSERT_EQ(gold_lines.size(), set.pairs);
  const auto source_tokenizer = train_tokenizer(tokenizer, text.source),
             target_tokenizer = train_tokenizer(tokenizer, text.target);
  if (unknown) {
    text.source = with_unknown_words(text.source);
    text.target = with_unknown_words(text.target);
  }
  int64_t out_of_range = 0, unknown_tokens = 0;
  std::vector<Links> links, gold, all_gold;
  for (size_t i = 0; i < text.size(); ++i) {
    const Segmentation source = source_tokenizer->segment(text.source[i]),
                       target = target_tokenizer->segment(text.target[i]);
    for (const Segmentation* segmentation : {&source, &target})
      unknown_tokens += std::count(segmentation->ids.begin(), segmentation->ids.end(), Tokenizer::kUnknown);
    Links line = parse_links(gold_lines[i], {.from_one = set.from_one});
    const int64_t removed = remove_out_of_range(line, source.words.size(), target.words.size());
    if (removed > 0) std::cout << set.folder << ":" << i + 1 << ": " << removed << " gold link out of range, skipped\n";
    out_of_range += removed;
    gold.push_back(first_links(line));
    all_gold.push_back(line);
    links.push_back(strongest_links(word_weights(source, target, one_hot(source, target, gold.back())).words));
    EXPECT_EQ(pharaoh(links.back()), pharaoh(gold.back())) << text.source[i] << " ||| " << text.target[i];
  }
  EXPECT_EQ(out_of_range, set.out_of_range);
  EXPECT_EQ(alignment_error(links, gold).error, 0);
  EXPECT_EQ(alignment_error(links, all_gold).precision, 1);
  EXPECT_EQ(alignment_error(all_gold, all_gold).error, 0);
  EXPECT_EQ(unknown_tokens > 0, unknown || tokenizer[0] == 'w');
}

std::string case_name(const ::testing::TestParamInfo<GoldLinks::ParamType>& info) {
  const auto& [set, tokenizer, unknown] = info.param;
  const std::string name = set.folder.substr(6, 4) + "_" + tokenizer.substr(0, tokenizer.find('('));
  return name + (unknown ? "_with_unknown_words" : "");
}

INSTANTIATE_TEST_SUITE_P(Sets, GoldLinks,
                         ::testing::Combine(::testing::ValuesIn(kSets), ::testing::ValuesIn(kGoldTokenizers),
                                            ::testing::Bool()),
                         case_name);

}  // namespace
}  // namespace heed::testing
