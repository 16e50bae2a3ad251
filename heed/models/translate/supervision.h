// Supervised attention of a translator: gold links between words as gold weights of the target's tokens.
//
// A target token whose word has links attends to the tokens of the linked words: each of n linked words gets 1/n,
// spread evenly over its tokens. Sure links count; possible ones only where a word has no sure link. A target token
// whose word has no links has no term. What is supervised is the attention that makes links
// (TranslationModel::aligning_step()), and of a model that shifts alignment the next step's.

#pragma once

#include <vector>

#include "heed/models/supervised_attention.h"
#include "heed/models/translate/model.h"
#include "heed/models/translate/translator.h"

namespace heed {

/// Gold weight of a source token for a target token, both counted without markers.
struct TokenLink {
  int64_t source = 0, target = 0;
  double weight = 0;
};

/// The gold weights of a pair; links must be to words that are there.
std::vector<TokenLink> token_links(const Links& links, const Segmentation& source, const Segmentation& target);

class LinkSupervision {
 public:
  /// gold: of each pair of the corpus. Throws Error if the attention of the model cannot be supervised so.
  LinkSupervision(TranslationModel& model, Supervision options, std::vector<std::vector<TokenLink>> gold);

  /// What is requested of the call of a batch.
  struct Request {
    Outputs outputs;
    Tensor gold;     // [n]: of each link
    Tensor queries;  // int64 [r, 3] = batch element, head, query: each query that has gold
  };
  Request request(const PairBatch& batch) const;
  /// The term of the loss, with its weight, summed over target tokens; undefined if the batch has no gold.
  Tensor loss(const Request& request, const Steps& steps) const;

  /// Target tokens with gold, of the whole corpus.
  int64_t supervised() const { return supervised_; }

 private:
  std::vector<int64_t> heads() const;
  Tensor squares(const Request& request, const Steps& steps, bool channels) const;

  Supervision options_;
  std::vector<std::vector<TokenLink>> gold_;
  std::string step_, squares_step_;  // squares_step_: "" if weights are requested for their squares
  int64_t shift_ = 0, heads_ = 1, supervised_ = 0;
};

}  // namespace heed
