// Golden cases: numbers that another program computed, one table for the tests of every path.
//
// A case is a problem, the expected answer, and the gradients of  sum(upstream * context)  with respect to its inputs.
// Numbers have eight decimals: compare within 1e-7 in double. They come from a plain Python evaluation of the formulas,
// confirmed by a second implementation with automatic differentiation. Arrays are flattened from the shapes of Answer
// and Problem.
//
// Many cases test an alignment of given scores z. They use the dot score with one feature, q = 1 and k_j = z_j. Where
// the gradient with respect to the scores is tested, a zero bias is passed: its gradient is the same.

#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/spec.h"
#include "heed/kernels/reference/reference.h"

namespace heed::kernels::reference {

struct Golden {
  std::string name;
  Problem<double> problem;
  std::map<std::string, std::vector<double>>
      expected;                       // scores, weights, context, lse, entropy, log_probability, selected
  std::vector<double> upstream = {};  // gradient of a loss with respect to the context; empty: no gradients
  std::map<std::string, std::vector<double>> grads = {};  // query, keys, values, bias, or a parameter's name
};

namespace golden_detail {

using Numbers = std::vector<double>;
using Cases = std::vector<Golden>;

inline int64_t size_of(const Numbers& numbers) {
  return static_cast<int64_t>(numbers.size());
}

/// q = (1, .5); k = (1, 0), (0, 1), (1, 1); v = (1, 2), (3, -1), (0, 4): small enough to check by hand.
inline Problem<double> fixture(const std::string& spec, std::map<std::string, Array<double>> parameters = {}) {
  Problem<double> problem;
  problem.mechanism = parse_mechanism(spec);
  problem.parameters = std::move(parameters);
  problem.query = {{1, 1, 1, 2}, {1, .5}};
  problem.keys = {{1, 1, 3, 2}, {1, 0, 0, 1, 1, 1}};
  problem.values = {{1, 1, 3, 2}, {1, 2, 3, -1, 0, 4}};
  problem.bias = {{1, 1, 1, 3}, {0, 0, 0}};
  return problem;
}

/// One query over the given scores, values of one feature.
inline Problem<double> over_scores(const std::string& align, const Numbers& scores, const Numbers& values) {
  const int64_t keys = size_of(scores);
  Problem<double> problem;
  problem.mechanism = parse_mechanism("dot + " + align);
  problem.query = {{1, 1, 1, 1}, {1}};
  problem.keys = {{1, 1, keys, 1}, scores};
  problem.values = {{1, 1, keys, 1}, values};
  problem.bias = {{1, 1, 1, keys}, Numbers(scores.size(), 0)};
  return problem;
}

// Parameters of the fixture. Matrices are row-major, applied as W x.
inline const Array<double> kFromQuery{{2, 2}, {.5, -.2, .1, .3}};
inline const Array<double> kFromKeys{{2, 2}, {.4, .1, -.3, .6}};
inline const Array<double> kHiddenBias{{2}, {.05, -.1}};
inline const Array<double> kToScores{{1, 2}, {.7, -.5}};
inline const Array<double> kBilinear{{2, 2}, {.6, -.1, .2, .5}};

/// Every score under softmax: e, a, c.
inline void add_scores(Cases& cases) {
  const auto add = [&](const std::string& name, const Problem<double>& problem, Numbers e, Numbers a, Numbers c) {
    cases.push_back({name, problem, {{"scores", std::move(e)}, {"weights", std::move(a)}, {"context", std::move(c)}}});
  };
  add("score/additive",
      fixture("additive + softmax", {{"score.from_query", kFromQuery},
                                     {"score.from_keys", kFromKeys},
                                     {"score.bias", kHiddenBias},
                                     {"score.to_scores", kToScores}}),
      {.55819115, .03278967, .30689863}, {.42209895, .24959467, .32830638}, {1.17088297, 1.90782874});
  add("score/concat",  // [W_q W_k] of the additive case, and no bias
      fixture("concat + softmax",
              {{"score.from_both", {{2, 4}, {.5, -.2, .4, .1, .1, .3, -.3, .6}}}, {"score.to_scores", kToScores}}),
      {.48980493, -.02205272, .25114840}, {.41892423, .25109527, .32998050}, {1.17221004, 1.90667519});
  add("score/dot", fixture("dot + softmax"), {1, .5, 1.5}, {.30719589, .18632372, .50648039}, {.86616706, 2.45398961});
  add("score/scaled", fixture("scaled_dot + softmax"), {.70710678, .35355339, 1.06066017},
      {.31986617, .22460634, .45552749}, {.99368520, 2.23723595});
  add("score/general", fixture("general + softmax", {{"score.from_query", kBilinear}}), {.55, .45, 1},
      {.28792310, .26052359, .45155331}, {1.06949388, 2.12153583});
  add("score/biased_general",
      fixture("biased_general + softmax", {{"score.from_query", kBilinear}, {"score.bias", {{2}, {.1, -.2}}}}),
      {.65, .25, .9}, {.33848445, .22689291, .43462264}, {1.01916319, 2.18856654});
  add("score/activated_general_tanh",
      fixture("activated_general + softmax", {{"score.from_query", kBilinear}, {"score.bias", {{1}, {.3}}}}),
      {.69106947, .63514895, .86172316}, {.31931598, .30194975, .37873427}, {1.22516523, 1.85161929});
  add("score/cosine", fixture("cosine + softmax"), {.89442719, .44721360, .94868330}, {.37103517, .23724261, .39172222},
      {1.08276299, 2.07171663});
  add("score/neg_sq_euclid", fixture("euclidean + softmax"), {-.25, -1.25, -.25}, {.42231880, .15536240, .42231880},
      {.88840601, 2.37855039});
  add("score/neg_euclid", fixture("euclidean(root) + softmax"), {-.5, -1.11803399, -.5},
      {.39385537, .21228926, .39385537}, {1.03072315, 2.15084296});
  add("score/location", fixture("location(3) + softmax", {{"score.from_query", {{3, 2}, {.2, .4, -.1, .3, .5, -.6}}}}),
      {.4, .05, .2}, {.39628776, .27925926, .32445298}, {1.23406555, 1.81112816});
}

/// One weight per channel of the values; scores and weights are [Lk, W].
inline void add_multi(Cases& cases) {
  cases.push_back({"multidim",  // to_scores is W_d transposed: [W, Dh]
                   fixture("additive + softmax, multi", {{"score.from_query", kFromQuery},
                                                         {"score.from_keys", kFromKeys},
                                                         {"score.bias", kHiddenBias},
                                                         {"score.to_scores", {{2, 2}, {.7, -.5, -.2, .9}}}}),
                   {{"scores", {.55819115, -.27221042, .03278967, .47153001, .30689863, .23175249}},
                    {"weights", {.42209895, .21012562, .24959467, .44206016, .32830638, .34781421}},
                    {"context", {1.17088297, 1.36944794}}}});
  cases.push_back(
      {"multidim/elementwise",  // e = 5 tanh((W_q q + W_k k + b) / 5)
       fixture("additive + softmax, multi(elementwise)",
               {{"score.from_query", kFromQuery}, {"score.from_keys", kFromKeys}, {"score.bias", kHiddenBias}}),
       {{"scores", {.84190523, -.14995502, .54779235, .74442517, .93873103, .44878892}},
        {"weights", {.35126410, .18991004, .26175933, .46448566, .38697657, .34560429}},
        {"context", {1.13654208, 1.29775159}}}});
  cases.push_back({"multidim/lift",  // two groups of one feature: e_jc = q_c k_jc
                   fixture("dot + softmax, multi(lift)"),
                   {{"scores", {1, 0, 0, .5, 1, .5}},
                    {"weights", {.42231880, .23269654, .15536240, .38365173, .42231880, .38365173}},
                    {"context", {.88840601, 1.61634827}}}});
}

/// The alignments of the literature on z = (1, .5, 1.5, -1), values (1, -1, 2, 5), which are then also the gradient
/// with respect to the weights.
inline void add_filters(Cases& cases) {
  const Numbers z{1, .5, 1.5, -1}, values{1, -1, 2, 5};
  const auto add = [&](const std::string& name, const std::string& align, Numbers weights, Numbers by_scores = {}) {
    Golden one{name, over_scores(align, z, values), {{"scores", z}, {"weights", std::move(weights)}}};
    if (!by_scores.empty()) one.upstream = {1}, one.grads = {{"bias", std::move(by_scores)}};
    cases.push_back(std::move(one));
  };
  add("softmax/z", "softmax", {.29493416, .17888661, .48626423, .03991500});
  add("sparsemax", "sparsemax", {.25, 0, .75, 0}, {-.5, 0, .5, 0});
  add("entmax15", "entmax(1.5)", {.29166667, .08413580, .62419753, 0}, {-.06997943, -.61770870, .68768812, 0});
  add("entmax(2) is sparsemax", "entmax(2)", {.25, 0, .75, 0}, {-.5, 0, .5, 0});
  add("threshold_filter", "threshold(.25)", {.29493416, 0, .48626423, 0},
      {-.07888386, -.22673209, .35620672, -.05059077});
  add("threshold_filter/renorm", "threshold(.25, renorm)", {.37754067, 0, .62245933, 0}, {-.23500371, 0, .23500371, 0});
  // Keeps the same two weights as the threshold above, so the gradients are the same.
  add("top_k", "top_k(2)", {.29493416, 0, .48626423, 0});
  cases.back().upstream = {1}, cases.back().grads = {{"bias", {-.07888386, -.22673209, .35620672, -.05059077}}};
  add("top_k/renorm", "top_k(2, renorm)", {.37754067, 0, .62245933, 0}, {-.23500371, 0, .23500371, 0});

  // alpha = 1.01 + .99 s with s = sigmoid(t) is 1.5 at s = 49/99, and d alpha / dt = .99 s (1 - s).
  const double s = 49. / 99.;
  Golden learned{
      "entmax15/alpha", over_scores("entmax(learned)", z, values), {{"weights", {.29166667, .08413580, .62419753, 0}}}};
  learned.problem.parameters["align.to_alpha"] = {{1}, {std::log(s / (1 - s))}};
  learned.upstream = {1};
  learned.grads = {{"align.to_alpha", {.83735528 * .99 * s * (1 - s)}},
                   {"bias", {-.06997943, -.61770870, .68768812, 0}}};
  cases.push_back(std::move(learned));

  cases.push_back({"stream_sparsemax",  // tau = (1 + 1.5 + 1.4 - 1) / 3 = .96666667
                   over_scores("sparsemax", {.1, 1, .5, 1.5, -1, 1.4, .9}, {1, 2, 3, 4, 5, 6, 7}),
                   {{"weights", {0, .03333333, 0, .53333333, 0, .43333333, 0}}}});
}

/// Softmax, sigmoid, uniform and the stochastic ones, on the dot scores (1, .5, 1.5) of the fixture, upstream (1, -1).
inline void add_alignments(Cases& cases) {
  const Numbers soft{.30719589, .18632372, .50648039}, upstream{1, -1};
  const Numbers drawn_gradients{-.13160290, 2.07058220, -1.93897929};
  const auto drawn = [](const std::string& spec) {
    auto problem = fixture(spec);
    problem.sample = true;
    problem.uniforms = {{1, 1, 1, 3, 1}, {.3, .9, .5}};  // e + g = (.81437324, 2.75036733, 1.86651292): key 1 wins
    return problem;
  };
  cases.push_back(
      {"softmax/backward",
       fixture("dot + softmax"),
       {{"weights", soft}, {"lse", {2.18026967}}, {"entropy", {1.02019134}}, {"context", {.86616706, 2.45398961}}},
       upstream,
       {{"bias", {.18057667, 1.04114390, -1.22172057}},
        {"query", {-1.04114390, -.18057667}},
        {"keys", {.18057667, .09028834, 1.04114390, .52057195, -1.22172057, -.61086029}},
        {"values", {.30719589, -.30719589, .18632372, -.18632372, .50648039, -.50648039}}}});
  cases.push_back({"sigmoid",
                   fixture("dot + sigmoid"),
                   {{"weights", {.73105858, .62245933, .81757448}}, {"context", {2.59843657, 4.10995573}}},
                   upstream,
                   {{"bias", {-.19661193, .94001485, -.59658581}}}});
  cases.push_back(
      {"hard",  // a sample: the scores have no gradient, the chosen value gets it all
       drawn("dot + hard"),
       {{"weights", {0, 1, 0}}, {"context", {3, -1}}, {"log_probability", {-1.68026967}}, {"entropy", {1.02019134}}},
       upstream,
       {{"bias", {0, 0, 0}}, {"values", {0, 0, 1, -1, 0, 0}}}});
  cases.push_back(
      {"hard/argmax",  // the argmax: 1.5 is largest, and its log-probability is 1.5 - 2.18026967
       fixture("dot + hard"),
       {{"weights", {0, 0, 1}}, {"context", {0, 4}}, {"log_probability", {-.68026967}}, {"entropy", {1.02019134}}}});
  cases.push_back({"hard/gumbel_softmax",
                   drawn("dot + gumbel_softmax(.5)"),
                   {{"weights", {.01747061, .83924959, .14327980}}, {"context", {2.53521939, -.23118919}}},
                   upstream,
                   {{"bias", drawn_gradients}}});
  cases.push_back({"hard/straight_through",  // one-hot in forward, the gradients of the softmax weights in backward
                   drawn("dot + straight_through(.5)"),
                   {{"weights", {0, 1, 0}}, {"context", {3, -1}}},
                   upstream,
                   {{"bias", drawn_gradients}, {"values", {0, 0, 1, -1, 0, 0}}}});
  cases.push_back({"uniform",
                   fixture("dot + uniform"),
                   {{"weights", {.33333333, .33333333, .33333333}}, {"context", {1.33333333, 1.66666667}}},
                   upstream,
                   {{"bias", {0, 0, 0}}}});
  Golden masked{"uniform/masked_last", fixture("dot + uniform"), {{"weights", {.5, .5, 0}}, {"context", {2, .5}}}};
  masked.problem.keep = {{1, 1, 1, 3}, {1, 1, 0}};
  cases.push_back(std::move(masked));
}

// Local alignment: S = 6 keys, half-width D = 2.
inline const Numbers kLocalScores{.2, -.1, .7, .4, 1, .3};
inline const Numbers kLocalValues{1, -2, .5, 3, -1, 2};

/// local_p with W_p = ((.3, -.4), (.2, .1)), w_p = (.8, -.5) and q = (1, .5): p = 2.93592234, center 2.
/// The scores are those of the general score with W = (1, 0), keys of one feature. by_position is dc / dp.
inline Golden local_p(const std::string& form, Numbers weights, double context, double by_position, Numbers by_scores) {
  Golden one;
  one.name = "local_p/" + form;
  one.problem = over_scores("local_p(2, " + form + ")", kLocalScores, kLocalValues);
  one.problem.mechanism.score = parse_part("general", "score");
  one.problem.query = {{1, 1, 1, 2}, {1, .5}};
  one.problem.parameters = {{"score.from_query", {{1, 2}, {1, 0}}},
                            {"align.from_query", {{2, 2}, {.3, -.4, .2, .1}}},
                            {"align.to_position", {{1, 2}, {.8, -.5}}}};
  one.expected = {{"scores", kLocalScores}, {"weights", std::move(weights)}, {"context", {context}}};
  one.upstream = {1};

  // dp/dx = p (1 - p/S), x = w_p . h, h = tanh(W_p q) = tanh(.1, .25); the scores depend on the first feature of q.
  const double position = 2.93592234, by_x = by_position * position * (1 - position / 6);
  const double h[] = {std::tanh(.1), std::tanh(.25)};
  const double inner[] = {by_x * .8 * (1 - h[0] * h[0]), by_x * -.5 * (1 - h[1] * h[1])};
  double through_scores = 0;
  for (size_t j = 0; j < kLocalScores.size(); ++j) through_scores += by_scores[j] * kLocalScores[j];
  one.grads = {{"align.to_position", {by_x * h[0], by_x * h[1]}},
               {"query", {.3 * inner[0] + .2 * inner[1] + through_scores, -.4 * inner[0] + .1 * inner[1]}},
               {"bias", std::move(by_scores)}};
  return one;
}

inline void add_local(Cases& cases) {
  cases.push_back(local_p("plain", {.00196533, .01663625, .15563391, .17829311, .18481424, 0}, .39657486, -.17657060,
                          {-.05604327, -.07624634, -.01782307, .46402745, -.31391477, 0}));
  cases.push_back(local_p("renorm", {.00365750, .03096022, .28963615, .33180512, .34394101, 0}, .73802949, -.36217216,
                          {.00095816, -.08476999, -.06894195, .75053340, -.59777962, 0}));
  cases.push_back(local_p("score_gauss", {.14716592, .14453491, .23058341, .21877704, .25893871, 0}, .37078023,
                          -.22322190, {.00124417, -.05260665, .01922856, .57403324, -.20151037, 0}));
  const auto local_m = [&](const std::string& name, const std::string& align, int64_t position, Numbers weights) {
    cases.push_back({name, over_scores(align, kLocalScores, kLocalValues), {{"weights", std::move(weights)}}});
    cases.back().problem.first_query = position;
  };
  local_m("local_m_t0", "local_m(2)", 0, {.29502533, .21856014, .48641453, 0, 0, 0});
  local_m("local_m_t9", "local_m(2)", 9, {0, 0, 0, 0, 0, 0});
  local_m("local_m_t9/clamped", "local_m(2, clamp)", 9, {0, 0, 0, .26831547, .48890266, .24278187});
}

/// The logit of the policy is the second feature of a key; the score uses the first.
inline void add_reinforced(Cases& cases) {
  Golden one{"reinforced", over_scores("reinforced(identity)", kLocalScores, kLocalValues), {}};
  const double pi[] = {.9, .2, .6, .3, .7, .5};
  one.problem.query = {{1, 1, 1, 2}, {1, 0}};
  one.problem.keys = {{1, 1, 6, 2}, {}};
  for (size_t j = 0; j < 6; ++j) {
    one.problem.keys.data.push_back(kLocalScores[j]);
    one.problem.keys.data.push_back(std::log(pi[j] / (1 - pi[j])));  // .5 has logit exactly 0, so key 5 is not selected
  }
  one.problem.parameters = {{"align.from_keys", {{1, 6}, {0, 1, 0, 0, 0, 0}}},
                            {"align.bias", {{1}, {0}}},
                            {"align.to_logit", {{1, 1}, {1}}},
                            {"align.logit_bias", {{1}, {0}}}};
  one.expected = {{"weights", {.20515925, 0, .33825043, 0, .45659032, 0}},
                  {"selected", {1, 0, 1, 0, 1, 0}},
                  {"log_probability", {-2.24582676}}};
  cases.push_back(std::move(one));
}

/// Several queries, and masks.
inline void add_sequences(Cases& cases) {
  Golden self{"self_attention", {}, {}};  // X = (1, 0), (0, 1), (1, 1), already projected by W_Q, W_K, W_V
  self.problem.mechanism = parse_mechanism("scaled_dot + softmax");
  self.problem.query = {{1, 1, 3, 2}, {1, 0, .5, 1, 1.5, 1}};
  self.problem.keys = {{1, 1, 3, 2}, {.5, -.5, 1, 0, 1.5, -.5}};
  self.problem.values = {{1, 1, 3, 2}, {1, 2, 0, 1, 1, 3}};
  Golden causal = self;
  self.expected = {
      {"scores",
       {.35355339, .70710678, 1.06066017, -.17677670, .35355339, .17677670, .17677670, 1.06066017, 1.23743687}},
      {"weights", {.22460634, .31986617, .45552749, .24250583, .41213701, .34535716, .15851484, .38365038, .45783478}},
      {"context", {.68013383, 2.13566132, .58786299, 1.93322016, .61634962, 2.07418440}}};
  causal.name = "self_attention/causal";
  causal.problem.causal = Causal::top_left;
  causal.expected = {{"context", {1, 2, .37043990, 1.37043990, .61634962, 2.07418440}}};
  cases.push_back(std::move(self));
  cases.push_back(std::move(causal));

  const Numbers one_hot{1, 0, 0, 0, 1, 0, 0, 0, 1}, table{.6, .2, .2, .2, .7, .1, .3, .2, .5};
  Golden tom{
      "tom_chase_jerry", {}, {{"weights", table}, {"context", table}}};  // the query holds the weights: C = sum a f
  tom.problem.mechanism = parse_mechanism("dot + identity");
  tom.problem.query = {{1, 1, 3, 3}, table};
  tom.problem.keys = tom.problem.values = {{1, 1, 3, 3}, one_hot};
  cases.push_back(std::move(tom));

  Golden online{"online_softmax",
                over_scores("softmax", {.2, -.1, 5, .4, 0, .3}, {}),
                {{"context", {2.01430266, 1}}, {"lse", {5.03292556}}}};
  online.problem.values = {{1, 1, 6, 2}, {0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1}};
  online.problem.bias.data[4] = -std::numeric_limits<double>::infinity();  // a kept score of -inf counts as masked
  cases.push_back(std::move(online));

  Golden lin{"lin2017",  // two learned queries; the given query is not used
             {},
             {{"weights", {.42832609, .23264345, .33903045, .20240162, .46399055, .33360784}},
              {"context", {.76735655, .57167391, .53600945, .79759838}}}};
  lin.problem.mechanism = parse_mechanism("self_attentive(queries=2) + softmax");
  lin.problem.query = {{1, 1, 2, 2}, {1, .5, 1, .5}};
  lin.problem.keys = lin.problem.values = {{1, 1, 3, 2}, {1, 0, 0, 1, 1, 1}};
  lin.problem.parameters = {
      {"score.from_keys", kFromKeys}, {"score.bias", {{2}, {0, 0}}}, {"score.query", {{2, 2}, {.7, -.5, -.3, .9}}}};
  Golden han = lin;  // the words of the first sentence: one learned query, a bias
  han.name = "han/sentence";
  han.problem.mechanism = parse_mechanism("self_attentive + softmax");
  han.problem.query = {{1, 1, 1, 2}, {1, .5}};
  han.problem.parameters["score.bias"] = kHiddenBias;
  han.problem.parameters["score.query"] = kToScores;
  han.expected = {{"weights", {.42847754, .23231530, .33920716}}, {"context", {.76768470, .57152246}}};
  cases.push_back(std::move(lin));
  cases.push_back(std::move(han));
}

}  // namespace golden_detail

inline std::vector<Golden> golden() {
  std::vector<Golden> cases;
  golden_detail::add_scores(cases);
  golden_detail::add_multi(cases);
  golden_detail::add_filters(cases);
  golden_detail::add_alignments(cases);
  golden_detail::add_local(cases);
  golden_detail::add_reinforced(cases);
  golden_detail::add_sequences(cases);
  return cases;
}

}  // namespace heed::kernels::reference
