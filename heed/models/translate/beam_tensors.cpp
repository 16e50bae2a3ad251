#include "heed/models/translate/beam_tensors.h"

#include <algorithm>
#include <limits>

#include "heed/backend/beams.h"
#include "heed/backend/top_log_softmax.h"
#include "heed/data/tokenizer.h"

namespace heed {

BeamTensors::BeamTensors(int64_t sentences, int64_t width, at::Device device)
    : width_(width),
      log_p_(at::zeros({sentences, 1}, at::device(device).dtype(at::kDouble))),
      tokens_(at::full({sentences}, Tokenizer::kBegin, at::device(device).dtype(at::kLong))) {}

BeamTensors::Candidates BeamTensors::extend(const Tensor& logits) {
  const int64_t sentences = log_p_.size(0), beams = log_p_.size(1);
  // Of the candidates of one beam, one may be the end marker.
  const int64_t each = width_ == 1 ? 1 : std::min(width_ + 1, logits.size(1));
  const auto [best, which] =
      top_log_softmax(logits, each, {Tokenizer::kPad, Tokenizer::kBegin});  // [sentences * beams, each]
  if (has_choose_kernel(best, beams * each)) return chosen(best, which);
  if (width_ == 1) {  // a sentence with the end marker is finished
    const auto sum = log_p_ + best;
    set(log_p_, sum);
    set(tokens_, which.squeeze(1));
    return {sum, at::zeros_like(which), which};
  }
  const auto sums = (log_p_.unsqueeze(2) + best.view({sentences, beams, each})).flatten(1);
  // At most one end marker for each beam: `width` others are among the 2 width best.
  const int64_t count = std::min(2 * width_, beams * each);
  const auto [sorted, order] = sums.sort(/*stable=*/true, 1, /*descending=*/true);
  Candidates all;
  all.log_probability = sorted.narrow(1, 0, count);
  const auto chosen = order.narrow(1, 0, count);
  all.beam = chosen.div(each, "floor");
  all.token = which.view({sentences, beams * each}).gather(1, chosen);

  const int64_t next = std::min(width_, count);
  const auto ends = all.token.eq(Tokenizer::kEnd);
  const auto going = std::get<1>(ends.to(at::kByte).sort(/*stable=*/true, 1, false)).narrow(1, 0, next);
  set(log_p_, all.log_probability.masked_fill(ends, -std::numeric_limits<double>::infinity()).gather(1, going));
  set(tokens_, all.token.gather(1, going).flatten());
  const auto first = at::arange(0, sentences * beams, beams, chosen.options()).unsqueeze(1);
  rows_ = (all.beam.gather(1, going) + first).flatten();
  return all;
}

/// The same by one kernel.
BeamTensors::Candidates BeamTensors::chosen(const Tensor& best, const Tensor& which) {
  const int64_t sentences = log_p_.size(0), beams = log_p_.size(1), each = best.size(1);
  const int64_t count = width_ == 1 ? 1 : std::min(2 * width_, beams * each), next = std::min(width_, count);
  const auto real = [&](int64_t n) { return at::empty({sentences, n}, log_p_.options()); };
  const auto whole = [&](int64_t n) { return at::empty({sentences, n}, tokens_.options()); };
  const Candidates all{real(count), whole(count), whole(count)};
  const bool same = fixed_ && beams == next;
  const Tensor after = same ? log_p_ : real(next);
  const Tensor tokens = same ? tokens_ : whole(next).flatten();
  rows_ = width_ == 1 ? Tensor() : whole(next).flatten();
  choose_beams({.before = log_p_,
                .best = best,
                .which = which,
                .end = width_ == 1 ? -1 : Tokenizer::kEnd,
                .log_probability = all.log_probability,
                .beam = all.beam,
                .token = all.token,
                .after = after,
                .last_token = tokens,
                .row = rows_});
  log_p_ = after;
  tokens_ = tokens;
  return all;
}

Tensor BeamTensors::keep(const Tensor& sentences) {
  const int64_t beams = log_p_.size(1);
  const auto rows = ((sentences * beams).unsqueeze(1) + at::arange(beams, sentences.options())).flatten();
  log_p_ = log_p_.index_select(0, sentences);
  tokens_ = tokens_.index_select(0, rows);
  return rows;
}

/// The tensors of earlier candidates are not written to.
void BeamTensors::fix() {
  log_p_ = log_p_.clone();
  tokens_ = tokens_.clone();
  fixed_ = true;
}

void BeamTensors::set(Tensor& own, const Tensor& value) const {
  if (fixed_ && own.sizes() == value.sizes())
    own.copy_(value);
  else
    own = value;
}

}  // namespace heed
