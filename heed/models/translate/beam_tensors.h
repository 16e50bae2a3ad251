// The beams of a batch of sentences as tensors: chosen on the device of the model, without a copy to the host.
//
// Every sentence has the same number of beams. One that does not exist has log-probability -inf, and so have all that
// continue it. Sentences that are finished go on until they are removed; what they give then is ignored.

#pragma once

#include "heed/models/translate/model.h"

namespace heed {

class BeamTensors {
 public:
  /// One beam for each of `sentences`, before the first token. width: beams of later steps.
  BeamTensors(int64_t sentences, int64_t width, at::Device device);

  /// The best candidates of one step, best first: all that a beam or a hypothesis may come from.
  struct Candidates {
    Tensor log_probability;  // double [sentences, n]
    Tensor beam, token;      // int64 [sentences, n]; beam: index in the sentence
  };
  /// Continues all beams by one token. logits [sentences * beams, V]: of the next token.
  Candidates extend(const Tensor& logits);
  /// Keeps these sentences: int64 [n]. Returns the rows of their beams, int64 [n * beams].
  Tensor keep(const Tensor& sentences);
  /// From now on extend() writes tokens() where they are: it can be recorded and repeated (torch_support/captured.h) as
  /// long as the number of beams does not change.
  void fix();

  /// Beams of each sentence.
  int64_t beams() const { return log_p_.size(1); }
  /// Last token of each beam, int64 [sentences * beams].
  const Tensor& tokens() const { return tokens_; }
  /// Row of the logits that each beam continues, int64 [sentences * beams]; undefined: each continues its own.
  const Tensor& rows() const { return rows_; }

 private:
  Candidates chosen(const Tensor& best, const Tensor& which);
  void set(Tensor& own, const Tensor& value) const;

  int64_t width_;
  bool fixed_ = false;
  Tensor log_p_;          // double [sentences, beams]
  Tensor tokens_, rows_;  // [sentences * beams]
};

}  // namespace heed
