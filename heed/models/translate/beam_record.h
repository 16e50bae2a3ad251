// The hypotheses of a batch of sentences, built on the host from the best candidates of each step.
//
// A beam that ends becomes a hypothesis. A sentence is finished when it has as many hypotheses as beams, when no beam
// is left, or at its maximum length.

#pragma once

#include <vector>

#include "heed/models/translate/search.h"

namespace heed {

/// A beam of a sentence continued by one token.
struct Candidate {
  double log_probability;
  int64_t beam, token;  // index of the beam in its sentence
};

class BeamRecord {
 public:
  /// longest: the maximum length of each sentence of the batch.
  BeamRecord(const std::vector<int64_t>& longest, const SearchOptions& options);

  /// Number of sentences that have not been removed; they are numbered from 0 in the order of the batch.
  int64_t sentences() const { return static_cast<int64_t>(alive_.size()); }
  int64_t beams(int64_t sentence) const { return static_cast<int64_t>(of(sentence).beams.size()); }
  double log_probability(int64_t sentence, int64_t beam) const {
    return of(sentence).beams[static_cast<size_t>(beam)].log_probability;
  }
  /// How many of them are not finished.
  int64_t unfinished() const;
  /// The largest maximum length of these sentences.
  int64_t longest() const;
  bool finished(int64_t sentence) const { return of(sentence).finished; }

  /// Adds attention weights [rows, S] of the next step: double, contiguous, on the CPU.
  void add_weights(const Tensor& rows);
  /// Makes the best candidates the beams of a sentence that is not finished, and those that end its hypotheses. Returns
  /// the candidates that are its new beams. sorted: best first; length: of the translations including this step;
  /// first_row: row of the sentence's first beam in the weights of this step.
  std::vector<Candidate> extend(int64_t sentence, const std::vector<Candidate>& sorted, int64_t length,
                                int64_t first_row);
  /// Removes finished sentences. Returns the numbers of the others before the removal.
  std::vector<int64_t> remove_finished();
  /// The hypotheses of each sentence of the batch; all are finished.
  std::vector<std::vector<Hypothesis>> take() { return std::move(found_); }

 private:
  /// One token of one beam; the path back to the first node is the translation.
  struct Node {
    int64_t token, before;  // before: index of the previous node, -1 at the start
    int64_t weights;        // index into weights_, -1: none
  };
  struct Beam {
    double log_probability = 0;
    int64_t node = -1;
  };
  struct Sentence {
    int64_t number = 0, longest = 0;  // its index in the batch, maximum length
    bool finished = false;
    std::vector<Beam> beams{};  // not ended
    std::vector<Hypothesis> ended{};
  };

  const Sentence& of(int64_t sentence) const { return alive_[static_cast<size_t>(sentence)]; }
  void finish(Sentence& sentence);
  Hypothesis hypothesis(const Beam& beam, int64_t length, bool ended) const;

  SearchOptions options_;
  std::vector<Sentence> alive_;
  std::vector<Node> nodes_;
  std::vector<std::vector<double>> weights_;
  int64_t first_weights_ = -1;  // index of the first weights of this step; -1: there are none
  std::vector<std::vector<Hypothesis>> found_;
};

}  // namespace heed
