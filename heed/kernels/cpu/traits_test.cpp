// The traits of every kind say what its kernel does.

#include "heed/kernels/cpu/traits.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/attend.h"

namespace heed::kernels::cpu {
namespace {

/// The kinds that have a line in the table.
template <class Kind>
std::vector<Kind> every() {
  std::vector<Kind> all;
  try {
    for (int i = 0;; ++i) {
      traits(static_cast<Kind>(i));
      all.push_back(static_cast<Kind>(i));
    }
  } catch (const Error&) {
    return all;
  }
}

/// Five queries and nine keys of width 9, which a table of scores has too.
struct Small {
  static constexpr int64_t kQueries = 5, kKeys = 9, kWidth = 9, kValueWidth = 3;
  std::vector<double> query, keys, values, to_scores, context, second;
  std::vector<RowStats<double>> rows;
  Problem<double> p;

  Small(ScoreKind score, AlignKind align)
      : query(numbers(kQueries * kWidth, 1)),
        keys(numbers(kKeys * kWidth, 2)),
        values(numbers(kKeys * kValueWidth, 3)),
        to_scores(numbers(kWidth, 4)),
        context(kQueries * kValueWidth),
        second(kQueries * kValueWidth),
        rows(kQueries) {
    p.score = score, p.align = align;
    p.activation = Activation::tanh;
    p.queries = kQueries, p.keys = kKeys, p.width = kWidth, p.value_width = kValueWidth;
    p.query = {query.data(), 0, 0, kWidth};
    p.key_rows = {keys.data(), 0, 0, kWidth};
    p.values = {values.data(), 0, 0, kValueWidth};
    p.to_scores = to_scores.data();
    p.alpha = 1.5, p.k = 2, p.theta = 0.1;
    p.context = context.data(), p.second = second.data(), p.rows = rows.data();
  }
  static std::vector<double> numbers(int64_t size, int seed) {
    std::vector<double> x(static_cast<size_t>(size));
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i * i) + seed);
    return x;
  }
  bool runs() {
    try {
      forward(p);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  /// The gradients with respect to the query.
  std::vector<double> backward_query(bool with_log_probability) {
    forward(p);
    const std::vector<double> ones(context.size(), 1);
    std::vector<double> to(query.size());
    Gradients<double> g;
    g.context = values.data();  // any numbers; there are more values than entries of the context
    if (with_log_probability) g.log_probability = ones.data();
    g.query = to.data();
    backward(p, g);
    return to;
  }
};

TEST(Traits, SayWhatAScoreReads) {
  ASSERT_GT(every<ScoreKind>().size(), static_cast<size_t>(ScoreKind::table));
  for (const ScoreKind kind : every<ScoreKind>()) {
    SCOPED_TRACE(static_cast<int>(kind));
    Small all(kind, AlignKind::softmax), no_keys = all, no_weights = all;
    EXPECT_TRUE(all.runs());
    no_keys.p.key_rows = {};
    EXPECT_EQ(no_keys.runs(), !traits(kind).reads_keys);
    no_weights.p.to_scores = nullptr;
    EXPECT_EQ(no_weights.runs(), !traits(kind).reads_to_scores);
  }
}

TEST(Traits, SayWhatAnAlignmentReads) {
  ASSERT_GT(every<AlignKind>().size(), static_cast<size_t>(AlignKind::uniform));
  for (const AlignKind kind : every<AlignKind>()) {
    SCOPED_TRACE(static_cast<int>(kind));
    Small all(ScoreKind::dot, kind), other_alpha = all, no_k = all, no_second = all, no_scores = all;
    EXPECT_TRUE(all.runs());
    no_scores.p.query = no_scores.p.key_rows = {};
    EXPECT_EQ(no_scores.runs(), !traits(kind).reads_scores);
    other_alpha.p.alpha = 3;
    EXPECT_EQ(other_alpha.runs(), !traits(kind).reads_alpha);
    no_k.p.k = 0;
    EXPECT_EQ(no_k.runs(), !traits(kind).reads_k);
    no_second.p.second = nullptr;
    EXPECT_TRUE(no_second.runs());
    if (traits(kind).needs_second)
      EXPECT_THROW(no_second.backward_query(false), Error);
    else
      EXPECT_EQ(no_second.backward_query(false), all.backward_query(false));
  }
}

TEST(Traits, SayWhatAnAlignmentOffers) {
  for (const AlignKind kind : every<AlignKind>()) {
    SCOPED_TRACE(static_cast<int>(kind));
    Small all(ScoreKind::dot, kind);
    forward(all.p);
    std::vector<double> lse(Small::kQueries);
    RequestedOutputs<double> outputs;
    outputs.lse = lse.data();
    report(all.p, outputs);
    for (const double x : lse) EXPECT_EQ(std::isfinite(x), traits(kind).has_lse);

    const auto is_zero = [](double x) { return x == 0; };
    const auto alone = all.backward_query(false), with_log_probability = all.backward_query(true);
    EXPECT_EQ(std::all_of(alone.begin(), alone.end(), is_zero),
              traits(kind).scores_need_log_probability || !traits(kind).reads_scores);
    EXPECT_EQ(with_log_probability != alone, traits(kind).has_log_probability);
  }
}

TEST(Traits, RefuseAKindWithoutALine) {
  EXPECT_THROW(traits(static_cast<ScoreKind>(-1)), Error);
  Small all(ScoreKind::dot, static_cast<AlignKind>(1000));
  try {
    forward(all.p);
    FAIL() << "a kind without a kernel ran";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("kernels/cpu: got number 1000 for the kind of alignment"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace heed::kernels::cpu
