// All steps at once compared with calling step() one by one: both decoders, with all their options.

#include "heed/structures/decode/teacher_forced.h"

#include "heed/attention/testing.h"
#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/decode/luong.h"

namespace heed::testing {
namespace {

constexpr int64_t kSentences = 3, kSourceWords = 5, kTargetWords = 4;
constexpr int64_t kForcedWidth = 4;  // source and state, so that every structure fits; embedding 3, out 2

struct Choice {
  std::string name;
  bool luong = false;
  DecoderOptions options{};

  friend void PrintTo(const Choice& kind, std::ostream* out) { *out << kind.name; }
};

std::vector<Choice> every_choice() {
  std::vector<Choice> all;
  const auto add = [&](const std::string& name, bool luong, const auto& change) {
    DecoderOptions o;
    o.embedding_dim = 3;
    o.state_dim = o.source_dim = kForcedWidth;
    o.out_dim = 2;
    change(o);
    all.push_back({name, luong, o});
  };
  using O = DecoderOptions;
  for (const bool luong : {false, true}) {
    const std::string who = luong ? "luong" : "bahdanau";
    for (const Cell cell : {Cell::gru, Cell::lstm})
      for (const bool gate : {false, true})
        add(who + (cell == Cell::gru ? "_gru" : "_lstm") + (gate ? "_gate" : ""), luong, [&](O& o) {
          o.cell = cell;
          o.context_gate = gate;
        });
    for (const char* mechanism : {"general + local_p(2)", "additive + sparsemax", "additive + softmax, multi"})
      add(who + "_" + name_of(mechanism), luong, [&](O& o) { o.mechanism = mechanism; });
    add(who + "_heads", luong, [](O& o) { o.num_heads = 2; });
    for (const char* structure : {"multi_hop(hops=2)", "multi_head(num_heads=2)", "memory_network(hops=2)"})
      add(who + "_" + name_of(structure), luong, [&](O& o) {
        o.structure = structure;
        if (o.structure.rfind("memory", 0) == 0) o.hidden_dim = 6;  // a context wider than the source
      });
  }
  for (const Readout readout : {Readout::maxout, Readout::linear})
    for (const bool previous : {false, true})
      add(std::string("bahdanau_") + (readout == Readout::maxout ? "maxout" : "linear") + (previous ? "_previous" : ""),
          false, [&](O& o) {
            o.readout = readout;
            o.reads_previous_state = previous;
          });
  for (const Cell cell : {Cell::gru, Cell::lstm})
    add(std::string("luong_without_feeding_") + (cell == Cell::gru ? "gru" : "lstm"), true, [&](O& o) {
      o.cell = cell;
      o.input_feeding = false;
    });
  return all;
}

/// A decoder of either kind.
struct Either {
  std::shared_ptr<torch::nn::Module> module;
  StepwiseDecoder* decoder;

  static Either of(const Choice& kind, at::ScalarType type = at::kDouble) {
    at::manual_seed(8);
    Either made = kind.luong ? held(LuongDecoder(kind.options).ptr()) : held(BahdanauDecoder(kind.options).ptr());
    made.module->to(type);
    made.module->eval();
    const at::NoGradGuard no_grad;
    for (auto& parameter : made.module->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
    return made;
  }
  Either copy() const {
    const auto other = module->clone();
    return {other, dynamic_cast<StepwiseDecoder*>(other.get())};
  }

 private:
  template <typename Impl>
  static Either held(const std::shared_ptr<Impl>& impl) {
    return {impl, impl.get()};
  }
};

enum class Padding { none, trailing, holes };

struct Sentences {
  Features targets, source;

  /// Padding holds NaN; batch element 2 has neither targets nor a source.
  static Sentences of(Padding padding, at::ScalarType type = at::kDouble) {
    at::manual_seed(9);
    const auto rows = [&](int64_t length, int64_t width, const std::vector<int64_t>& flags) {
      auto x = at::randn({kSentences, length, width}, kDouble).to(type);
      if (padding == Padding::none) return Features{x.requires_grad_(), {}};
      const auto keep = at::tensor(flags).view({kSentences, length}).to(at::kBool);
      return Features{x.masked_fill(keep.logical_not().unsqueeze(-1), std::nan("")).requires_grad_(), keep};
    };
    Sentences in;
    in.targets = padding == Padding::holes ? rows(kTargetWords, 3, {0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0})
                                           : rows(kTargetWords, 3, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
    in.source = rows(kSourceWords, kForcedWidth, {1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0});
    return in;
  }
};

/// The definition: step() one by one; at padding the state stays as it is.
Decoded one_by_one(StepwiseDecoder& decoder, const Sentences& in, const Call& call) {
  const auto clean = in.targets.without_padding().rows;
  const auto& keep = in.targets.keep;
  DecoderState state = decoder.start(in.source, {});
  std::vector<Tensor> outputs, weights, contexts;
  for (int64_t t = 0; t < kTargetWords; ++t) {
    DecoderStep next = decoder.step(clean.select(1, t), state, call);
    const auto held = [&](const Tensor& after, const Tensor& before) {
      return keep.defined() && after.defined() ? at::where(keep.select(1, t).unsqueeze(1), after, before) : after;
    };
    next.state.hidden = held(next.state.hidden, state.hidden);
    next.state.cell = held(next.state.cell, state.cell);
    next.state.fed = held(next.state.fed, state.fed);
    state = next.state;
    const auto real = keep.defined() ? keep.select(1, t) : at::ones({kSentences}, at::kBool);
    const auto cleared = [&](const Tensor& x) {
      auto shape = std::vector<int64_t>(static_cast<size_t>(x.dim()), 1);
      shape[0] = kSentences;
      return x.masked_fill(real.logical_not().view(shape), 0.0);
    };
    outputs.push_back(cleared(next.output));
    contexts.push_back(cleared(next.attended.context));
    if (call.outputs.weights) weights.push_back(cleared(next.attended.weights));
  }
  Decoded all{in.targets.with_rows(at::stack(outputs, 1)), {}};
  all.attended.context = at::cat(contexts, 1);
  if (call.outputs.weights) all.attended.weights = at::cat(weights, decoder.has_heads() ? 2 : 1);
  return all;
}

Tensor forced_loss(const Decoded& decoded) {
  Tensor sum = (decoded.features.rows * waves(decoded.features.rows)).sum();
  if (decoded.attended.weights.defined())
    sum = sum + (decoded.attended.weights * waves(decoded.attended.weights, 2)).sum();
  return sum;
}

class EveryRecurrentDecoder : public ::testing::TestWithParam<Choice> {
 protected:
  static std::vector<Tensor> leaves(const Either& either, const Sentences& in) {
    auto all = either.module->parameters();
    all.push_back(in.targets.rows);
    all.push_back(in.source.rows);
    return all;
  }
  static Decoded at_once(const Either& either, const Sentences& in, const Call& call = {}) {
    return teacher_forced(*either.decoder, in.targets, in.source, call, {});
  }
};
INSTANTIATE_TEST_SUITE_P(Choices, EveryRecurrentDecoder, ::testing::ValuesIn(every_choice()),
                         [](const auto& test) { return name_of(test.param.name); });

/// An undefined gradient counts as zeros.
void expect_like(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].defined() && expected[i].defined())
      EXPECT_TRUE(close(found[i], expected[i], tolerance)) << i;
    else
      EXPECT_EQ(largest(found[i].defined() ? found[i] : expected[i].defined() ? expected[i] : at::zeros({})), 0) << i;
  }
}

TEST_P(EveryRecurrentDecoder, GivesAtOnceWhatStepsGive) {
  auto either = Either::of(GetParam());
  for (const Padding padding : {Padding::none, Padding::trailing, Padding::holes}) {
    const auto in = Sentences::of(padding);
    Call call;
    call.outputs.weights = true;
    const auto found = at_once(either, in, call), expected = one_by_one(*either.decoder, in, call);
    EXPECT_TRUE(close(found.features.rows, expected.features.rows, 1e-12));
    EXPECT_TRUE(close(found.attended.context, expected.attended.context, 1e-12));
    EXPECT_TRUE(close(found.attended.weights, expected.attended.weights, 1e-12));
    expect_like(gradients(forced_loss(found), leaves(either, in)), gradients(forced_loss(expected), leaves(either, in)),
                1e-11);
  }
}

TEST_P(EveryRecurrentDecoder, GivesItInFloat) {
  auto either = Either::of(GetParam(), at::kFloat);
  const auto in = Sentences::of(Padding::trailing, at::kFloat);
  const auto found = at_once(either, in), expected = one_by_one(*either.decoder, in, {});
  EXPECT_TRUE(close(found.features.rows, expected.features.rows, 1e-5));
  expect_like(gradients(forced_loss(found), leaves(either, in)), gradients(forced_loss(expected), leaves(either, in)),
              1e-3);
}

TEST_P(EveryRecurrentDecoder, CanBeDifferentiatedTwice) {
  auto either = Either::of(GetParam());
  const auto in = Sentences::of(Padding::trailing);
  const auto twice = [&](const Decoded& decoded) {
    Tensor sum = at::zeros({}, kDouble);
    for (const auto& grad : gradients(forced_loss(decoded), leaves(either, in), /*create_graph=*/true))
      if (grad.defined()) sum = sum + (grad.square() * waves(grad)).sum();
    return gradients(sum, leaves(either, in));
  };
  expect_like(twice(at_once(either, in)), twice(one_by_one(*either.decoder, in, {})), 1e-8);
}

TEST_P(EveryRecurrentDecoder, DrawsWhatStepsDraw) {
  Choice kind = GetParam();
  kind.options.dropout = 0.4;
  for (const uint64_t seed : {0, 7}) {
    auto either = Either::of(kind);
    either.module->train();
    auto other = either.copy();
    const auto in = Sentences::of(Padding::trailing);
    Call call;
    call.noise.seed = seed;
    at::manual_seed(3);
    const auto found = at_once(either, in, call);
    at::manual_seed(3);
    EXPECT_TRUE(close(found.features.rows, one_by_one(*other.decoder, in, call).features.rows, 1e-12));
    EXPECT_GT(largest(found.features.rows - at_once(either, in, call).features.rows),
              1e-9);  // the next call draws new numbers
  }
}

// The values at padding have no effect, not even through the sign of a zero.
TEST_P(EveryRecurrentDecoder, NeverReadsPadding) {
  auto either = Either::of(GetParam());
  for (const Padding padding : {Padding::trailing, Padding::holes}) {
    std::vector<Tensor> first;
    for (const double with : {0.0, -1e3, std::nan("")}) {
      auto in = Sentences::of(padding);
      for (auto* f : {&in.targets, &in.source})
        f->rows = f->rows.detach().masked_fill(f->keep.logical_not().unsqueeze(-1), with).requires_grad_();
      const auto decoded = at_once(either, in);
      auto found = gradients(forced_loss(decoded), leaves(either, in));
      found.push_back(decoded.features.rows);
      if (first.empty()) first = found;
      for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], first[i])) << i << " with " << with;
      EXPECT_EQ(largest(decoded.features.rows.masked_select(in.targets.keep.logical_not().unsqueeze(-1))), 0);
    }
  }
}

TEST_P(EveryRecurrentDecoder, NeedsNoTargets) {
  auto either = Either::of(GetParam());
  auto in = Sentences::of(Padding::trailing);
  in.targets = {at::zeros({kSentences, 0, 3}, kDouble), {}};
  Call call;
  call.outputs.weights = true;
  const auto none = at_once(either, in, call);
  EXPECT_EQ(none.features.rows.sizes(), at::IntArrayRef({kSentences, 0, 2}));
  EXPECT_EQ(none.attended.weights.numel(), 0);
  EXPECT_EQ(none.attended.weights.size(0), kSentences);
}

TEST_P(EveryRecurrentDecoder, ContinuesFromSelectedBatchElements) {
  auto either = Either::of(GetParam());
  const auto in = Sentences::of(Padding::trailing);
  const auto y = in.targets.without_padding().rows;
  auto state = either.decoder->step(y.select(1, 0), either.decoder->start(in.source, {}), {}).state;
  const auto rows = at::tensor(std::vector<int64_t>{1, 0, 1, 2});
  const auto chosen = either.decoder->step(y.select(1, 1).index_select(0, rows), state.select(rows), {});
  const auto all = either.decoder->step(y.select(1, 1), state, {});
  EXPECT_TRUE(close(chosen.output, all.output.index_select(0, rows), 1e-12));
  EXPECT_EQ(chosen.state.targets, 2);
}

TEST_P(EveryRecurrentDecoder, CopiesItself) {
  auto either = Either::of(GetParam());
  const auto in = Sentences::of(Padding::none);
  const auto expected = at_once(either, in).features.rows;
  const auto copy = either.copy();
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : either.module->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(at_once(copy, in).features.rows, expected));
}

}  // namespace
}  // namespace heed::testing
