#include "heed/models/translate/search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <thread>

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "heed/backend/top_log_softmax.h"
#include "heed/data/tokenizer.h"
#include "heed/models/translate/beam_record.h"
#include "heed/models/translate/beam_tensors.h"
#include "heed/torch_support/captured.h"
#include "heed/torch_support/send.h"

namespace heed {
namespace {

constexpr int64_t kInterval = 8;  // steps on a GPU between two copies to the host

/// Whether rows is 0 ... count - 1, so that nothing has to be selected.
bool same_rows(const std::vector<int64_t>& rows, int64_t count) {
  if (static_cast<int64_t>(rows.size()) != count) return false;
  for (int64_t i = 0; i < count; ++i)
    if (rows[static_cast<size_t>(i)] != i) return false;
  return true;
}

/// The maximum length of the translation of each sentence.
std::vector<int64_t> longest_of(const Tensor& keep, const SearchOptions& options) {
  const auto counts = keep.sum(1).cpu();  // [B]
  std::vector<int64_t> longest;
  for (int64_t b = 0; b < counts.size(0); ++b)
    longest.push_back(static_cast<int64_t>(options.longest * static_cast<double>(counts.data_ptr<int64_t>()[b]) +
                                           options.longest_add));
  return longest;
}

void check_not_nan(bool fine, int64_t length) {
  check(fine, "search: log-probabilities are NaN at token ", length,
        "; the model's weights are damaged, or its training diverged");
}

/// What both ways of searching have in common: a model that decodes a batch, and the record of what was found.
class Search {
 public:
  Search(TranslationModel& model, const Tensor& source, const Tensor& keep, const SearchOptions& options)
      : options_(options),
        device_(source.device()),
        record_(longest_of(keep, options), options),
        decoding_(model.start(source, keep)) {
    call_.outputs.weights = options.weights && model.aligns();
  }

 protected:
  SearchOptions options_;
  at::Device device_;
  BeamRecord record_;
  TranslationModel::Decoding decoding_;
  Call call_;
};

/// The last recorded step of a thread's searches. The memory that it works in stays for the next search with it: torch
/// gives up a pool with the last graph in it, and taking new memory from a device waits for the device.
struct LastRecorded {
  at::Device device = at::kCPU;
  CapturePool pool;
  std::unique_ptr<Captured> step;

  static LastRecorded& of(at::Device device) {
    thread_local LastRecorded last;
    if (last.device != device) last = LastRecorded{device, {}, {}};
    return last;
  }
};

/// The host chooses the beams of every step. Finished sentences leave at once.
class HostSearch : public Search {
 public:
  using Search::Search;

  std::vector<std::vector<Hypothesis>> run() {
    std::vector<int64_t> tokens(static_cast<size_t>(record_.sentences()), Tokenizer::kBegin);
    for (int64_t length = 1; record_.sentences() > 0; ++length) {
      const Tensor logits = decoding_.logits(at::tensor(tokens, at::kLong).to(device_), call_);
      if (call_.outputs.weights) record_.add_weights(decoding_.weights().to(at::kCPU, at::kDouble).contiguous());
      tokens = extend(logits, length);
    }
    return record_.take();
  }

 private:
  /// Extends every sentence by one token; returns the tokens of the beams that continue.
  std::vector<int64_t> extend(const Tensor& logits, int64_t length) {
    // One of the candidates may be the end marker; greedy search then is finished.
    const int64_t count = options_.beam == 1 ? 1 : std::min(options_.beam + 1, logits.size(1));
    auto [best, which] = top_log_softmax(logits, count, {Tokenizer::kPad, Tokenizer::kBegin});  // [rows, count]
    best = best.to(at::kCPU, at::kDouble).contiguous();
    which = which.cpu().contiguous();
    check_not_nan(!best.isnan().any().item<bool>(), length);
    std::vector<int64_t> tokens, rows;
    bool same_sources = true;  // each row continues one of its own sentence
    int64_t first = 0;
    for (int64_t i = 0; i < record_.sentences(); ++i) {
      const int64_t beams = record_.beams(i);
      const auto chosen = record_.extend(i, candidates(i, best, which, first), length, first);
      same_sources = same_sources && !record_.finished(i) && static_cast<int64_t>(chosen.size()) == beams;
      if (!record_.finished(i))
        for (const auto& candidate : chosen) {
          tokens.push_back(candidate.token);
          rows.push_back(first + candidate.beam);
        }
      first += beams;
    }
    record_.remove_finished();
    if (record_.sentences() > 0 && !same_rows(rows, first)) {
      const auto selected = at::tensor(rows, at::kLong).to(device_);
      same_sources ? decoding_.reorder(selected) : decoding_.select(selected);
    }
    return tokens;
  }

  std::vector<Candidate> candidates(int64_t sentence, const Tensor& best, const Tensor& which, int64_t first) {
    std::vector<Candidate> all;
    const int64_t count = best.size(1);
    for (int64_t k = 0; k < record_.beams(sentence); ++k)
      for (int64_t c = 0; c < count; ++c) {
        const int64_t at = (first + k) * count + c;
        all.push_back(
            {record_.log_probability(sentence, k) + best.data_ptr<double>()[at], k, which.data_ptr<int64_t>()[at]});
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    return all;
  }
};

/// Tensors choose the beams. The host reads the candidates of several steps at once, and finished sentences leave then.
/// While steps are repeated, it reads those before the last ones while the device computes these.
///
/// A step of few rows takes a GPU less time than its host needs to launch it. Such steps work on tensors that keep
/// their memory (QueryState::fix): after one of them the next is recorded, and then repeated until the shapes change.
class DeviceSearch : public Search {
 public:
  DeviceSearch(TranslationModel& model, const Tensor& source, const Tensor& keep, const SearchOptions& options)
      : Search(model, source, keep, options),
        last_recorded_(LastRecorded::of(device_)),
        beams_(record_.sentences(), options.beam, device_) {}

  std::vector<std::vector<Hypothesis>> run() {
    for (int64_t length = 1; record_.sentences() > 0; ++length) {
      step();
      const bool last = length >= record_.longest();
      const int64_t interval = repeats_ ? std::min(options_.interval, kRepeatedInterval) : options_.interval;
      if (static_cast<int64_t>(steps_.size()) < interval && !last) continue;
      send(length);
      read(repeats_ && !last ? 1 : 0);
      if (worth_removing()) {
        if (record_.unfinished() > 0) read(0);
        remove_finished();
      }
    }
    return record_.take();
  }

 private:
  using Capture = SearchOptions::Capture;

  void step() {
    const int64_t rows = beams_.tokens().size(0);
    if (rows != rows_ || left_ == 0) prepare(rows);
    if (fixed_ && !repeats_ && live_ >= kLiveSteps && Captured::available(device_)) record_step();
    if (repeats_) {
      last_recorded_.step->replay();
      steps_.push_back({last_.log_probability.clone(), last_.beam.clone(), last_.token.clone()});
      if (call_.outputs.weights) weights_.push_back(last_weights_.clone());
    } else {
      compute();
      ++live_;
      steps_.push_back(last_);
      if (call_.outputs.weights) weights_.push_back(last_weights_);
    }
    --left_;
  }

  /// One step on the tensors of the beams and of the decoder.
  void compute() {
    const Tensor logits = decoding_.logits(beams_.tokens(), call_);
    if (call_.outputs.weights) last_weights_ = decoding_.weights();
    last_ = beams_.extend(logits);
    if (!beams_.rows().defined()) return;
    if (beams_.tokens().size(0) == logits.size(0))
      decoding_.reorder(beams_.rows(), beams_.beams());
    else
      decoding_.select(beams_.rows());
  }

  /// Before steps with another number of rows, or after as many as were prepared for.
  void prepare(int64_t rows) {
    repeats_ = false;
    live_ = 0;
    const bool wanted = options_.capture == Capture::always ||
                        (options_.capture == Capture::few_rows && Captured::available(device_) && rows <= kFewRows);
    // The first step widens to all beams. If it did not, one more step shows whether the number of rows changes.
    const bool settled = rows == rows_ || fixed_ || (rows_ > 0 && rows == record_.sentences() * options_.beam);
    fixed_ = wanted && settled && decoding_.fix(kFixedSteps);
    if (fixed_) beams_.fix();
    left_ = wanted && !settled ? 1 : kFixedSteps;
    rows_ = rows;
  }

  void record_step() {
    auto graph = std::make_unique<Captured>(last_recorded_.pool);
    const std::string failed = graph->record([&] { compute(); });
    check(failed.empty(), "search: a decoding step could not be recorded: ", failed,
          "; expected work that waits for nothing. Search with SearchOptions::capture never");
    last_recorded_.step = std::move(graph);  // after the new graph has entered the pool
    repeats_ = true;
  }

  /// Some steps, on their way to the CPU. Values of a step follow each other, sentence by sentence.
  struct Values {
    Tensor log_probability, beam, token;
    Tensor weights;                         // rows of all steps, or undefined
    std::vector<int64_t> counts;            // candidates of a sentence in each step
    std::vector<int64_t> rows;              // of the weights of each step
    int64_t length = 0;                     // that of the last step
    std::unique_ptr<c10::Event> arrived{};  // null: they are there
  };

  /// Sends the steps since the last time; length: that of the last step.
  void send(int64_t length) {
    const auto sent = [&](const Tensor& x) {
      if (!device_.is_cuda()) return x;
      const Tensor here = to_send(x.sizes(), x.scalar_type(), device_);
      here.copy_(x, /*non_blocking=*/true);
      return here;
    };
    const auto all = [&](Tensor BeamTensors::Candidates::*field) {
      std::vector<Tensor> parts;
      for (const auto& step : steps_) parts.push_back((step.*field).flatten());
      return sent(at::cat(parts));
    };
    Values values{.log_probability = all(&BeamTensors::Candidates::log_probability),
                  .beam = all(&BeamTensors::Candidates::beam),
                  .token = all(&BeamTensors::Candidates::token),
                  .weights = weights_.empty() ? Tensor() : sent(at::cat(weights_)),
                  .counts = {},
                  .rows = {},
                  .length = length};
    for (const auto& step : steps_) values.counts.push_back(step.token.size(1));
    for (const auto& weights : weights_) values.rows.push_back(weights.size(0));
    if (device_.is_cuda()) {
      values.arrived = std::make_unique<c10::Event>(device_.type());
      values.arrived->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    }
    sent_.push_back(std::move(values));
    steps_.clear();
    weights_.clear();
  }

  /// Brings the record up to date, but for the last `unread` of what was sent.
  void read(size_t unread) {
    for (; sent_.size() > unread; sent_.pop_front()) {
      while (sent_.front().arrived && !sent_.front().arrived->query()) std::this_thread::yield();
      read(sent_.front());
    }
  }

  void read(const Values& values) {
    const Tensor weights = values.weights.defined() ? values.weights.to(at::kDouble).contiguous() : Tensor();
    const int64_t sentences = record_.sentences();
    int64_t at = 0, row = 0;
    for (size_t s = 0; s < values.counts.size(); ++s) {
      const int64_t count = values.counts[s];
      const int64_t step = values.length - static_cast<int64_t>(values.counts.size() - s) + 1;
      int64_t beams = 0;  // of each sentence
      if (weights.defined()) {
        const int64_t rows = values.rows[s];
        record_.add_weights(weights.narrow(0, row, rows));
        row += rows;
        beams = rows / sentences;
      }
      for (int64_t i = 0; i < sentences; ++i, at += count)
        if (!record_.finished(i)) record_.extend(i, candidates(values, at, count, step), step, i * beams);
    }
  }

  bool worth_removing() const {
    const auto going = static_cast<double>(record_.unfinished()), all = static_cast<double>(record_.sentences());
    return fixed_ && going > 0 ? going <= kWorthRemoving * all : going < all;
  }

  /// All that was sent has been read.
  void remove_finished() {
    const auto kept = record_.remove_finished();
    if (!kept.empty()) decoding_.select(beams_.keep(indices(kept, device_)));
  }

  static std::vector<Candidate> candidates(const Values& values, int64_t first, int64_t count, int64_t length) {
    std::vector<Candidate> all;
    all.reserve(static_cast<size_t>(count));
    for (int64_t at = first; at < first + count; ++at) {
      all.push_back({values.log_probability.data_ptr<double>()[at], values.beam.data_ptr<int64_t>()[at],
                     values.token.data_ptr<int64_t>()[at]});
      check_not_nan(!std::isnan(all.back().log_probability), length);
    }
    return all;
  }

  static constexpr int64_t kFewRows = 8192;        // that a GPU is done with before its host
  static constexpr int64_t kRepeatedInterval = 2;  // steps between two copies, while steps are repeated
  static constexpr int64_t kFixedSteps = 32;       // that memory is prepared for
  static constexpr int64_t kLiveSteps = 0;         // of one shape before one is recorded
  static constexpr double kWorthRemoving = 0.75;   // share of sentences left, where steps are recorded again

  const CaptureStream stream_{device_};
  LastRecorded& last_recorded_;
  BeamTensors beams_;
  std::vector<BeamTensors::Candidates> steps_;  // since they were last sent to the host
  std::vector<Tensor> weights_;                 // of these steps, [rows, S] each
  std::deque<Values> sent_;                     // and not read yet
  BeamTensors::Candidates last_;                // of the last step
  Tensor last_weights_;
  bool repeats_ = false;         // the recorded step, or steps run live
  bool fixed_ = false;           // tensors keep their memory
  int64_t rows_ = 0, left_ = 0;  // rows of the last step; steps that are prepared
  int64_t live_ = 0;             // steps since they were prepared
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const Tensor& source, const Tensor& keep,
                                            const SearchOptions& given) {
  SearchOptions options = given;
  check(options.beam >= 1, "search: beam is ", options.beam, ", expected at least 1");
  check(options.interval >= 0, "search: interval is ", options.interval, ", expected at least 0");
  check(source.size(1) > 0, "search: the source has no positions, expected at least the end marker");
  const at::NoGradGuard no_grad;
  if (options.interval == 0) options.interval = source.is_cuda() ? kInterval : 1;
  if (options.interval == 1) return HostSearch(model, source, keep, options).run();
  return DeviceSearch(model, source, keep, options).run();
}

}  // namespace heed
