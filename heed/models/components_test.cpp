// The components of a task model: what a query model gets, and how one is added.

#include "heed/models/components.h"

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/data/tokenizer.h"
#include "heed/models/translate/model.h"

namespace heed {
namespace {

TranslationModel model_of(const std::string& recipe) {
  return {parse_recipe("model: {embedding: {dim: 8}, " + recipe + "}", "toy.yaml").at("model"), {8, 8, false}};
}

std::string refusal_of_recipe(const std::string& recipe) {
  try {
    read_components(parse_recipe("model: {embedding: {dim: 8}, " + recipe + "}", "toy.yaml").at("model"), false);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

bool has_parameter(const torch::nn::Module& module, const std::string& name) {
  return module.named_parameters().contains(name);
}

// The names of saved weights do not depend on who makes the attention.
TEST(AttentionModel, IsWhatTheQueryModelAttendsWith) {
  const TranslationModel recurrent = model_of("features: {dim: 8}, query: {kind: luong, state_dim: 8}");
  const std::string name = "query.decoder.glimpse.attention.score.from_query";
  ASSERT_TRUE(has_parameter(recurrent, name));
  EXPECT_TRUE(recurrent.named_parameters()[name].is_same(
      recurrent.attention().named_parameters()["attention.score.from_query"]));
  const TranslationModel structured =
      model_of("features: {dim: 8}, query: {state_dim: 8}, attention: {structure: multi_hop(hops=2)}");
  EXPECT_EQ(structured.attention().named_children().keys(), (std::vector<std::string>{"structure"}));
  const TranslationModel transformer = model_of("query: {kind: transformer, num_layers: 3, num_heads: 2}");
  EXPECT_EQ(transformer.attention().children().size(), 3U);
  EXPECT_TRUE(transformer.named_parameters()["query.decoder.layers.1.cross.heads.keys"].is_same(
      transformer.attention().named_parameters()["layer1.heads.keys"]));
}

TEST(Components, AreCheckedTogetherBeforeTheyAreBuilt) {
  EXPECT_EQ(refusal_of_recipe("features: {dim: 12}, query: {state_dim: 16}"), "no error");
  EXPECT_NE(refusal_of_recipe("features: {dim: 12}, query: {state_dim: 16}, attention: dot + softmax")
                .find("recipe: model.attention is 'dot + softmax', which does not fit here"),
            std::string::npos);
  EXPECT_EQ(refusal_of_recipe("features: {dim: 11}"),
            "recipe: model.features.dim is 11, expected an even number: two directions share it [toy.yaml:1]");
  EXPECT_EQ(refusal_of_recipe("query: {kind: transformer, num_heads: 3}"),
            "recipe: model.query.num_heads is 3, expected a divisor of the width, which is 8 [toy.yaml:1]");
}

/// Attends with the embedded target itself, and returns the context.
class EchoQuery final : public QueryModel {
 public:
  static RecipeKeyList keys() { return {}; }
  EchoQuery(const Settings&, const QueryOptions& options) : options_(options) {}
  void build() override {
    options_.attention->build(options_.embedding, options_.source);
    register_module("attention", options_.attention);
  }
  QueryOutput answer(const Features& targets, const Features& seen, const Tensor& summary, const Call& call) override {
    std::vector<Tensor> contexts;
    const auto state = start(seen, summary);
    for (int64_t t = 0; t < targets.length(); ++t)
      contexts.push_back(state->step(targets.rows.select(1, t), call).outputs.rows);
    return {targets.with_rows(at::cat(contexts, 1)), {}};
  }
  std::unique_ptr<QueryState> start(const Features& seen, const Tensor&) override {
    auto state = std::make_unique<State>();
    state->attention = options_.attention;
    state->attention->prepare(seen, state->source);
    return state;
  }
  int64_t width() const override { return options_.source; }
  std::string aligning_step() const override { return "cross"; }

 private:
  struct State final : QueryState {
    QueryOutput step(const Tensor& embedded, const Call& call) override {
      Attended attended;
      const Tensor context = attention->attend(embedded, source, call, attended);
      ++source.targets;
      return {{context.unsqueeze(1), {}}, {{"cross", attended}}};
    }
    void select(const Tensor& rows) override { source = source.select(rows); }
    std::shared_ptr<AttentionModel> attention;
    DecoderState source;
  };
  QueryOptions options_;
};

const QueryEntry<EchoQuery> echo_entry{"echo",
                                       {.features = "embedding", .mechanism = "scaled_dot + softmax"},
                                       {.formula = "c_i = Att(y_{i-1}, F)", .choose = "for a test"}};

TEST(QueryModel, IsKnownToRecipesByItsEntryAlone) {
  TranslationModel model = model_of("query: echo");
  EXPECT_EQ(model.attention().spec().mechanism, "scaled_dot + softmax");
  model.eval();
  const PairBatch batch = collate({{{4, 5, 6}}, {{5, 4}}}, {0});
  EXPECT_EQ(model.predict(batch).logits().size(1), 8);
  const std::string refusal = refusal_of_recipe("query: ecko");  // it names all query models
  EXPECT_EQ(refusal.rfind("recipe: model.query.kind is 'ecko', expected one of bahdanau, ", 0), 0U) << refusal;
  EXPECT_NE(refusal.find("(did you mean 'echo'?) [toy.yaml:1]"), std::string::npos) << refusal;
}

TEST(TranslationModel, PredictsTheSameInABatchOfOneShape) {
  const IdPairs corpus{{{4, 5, 6}, {4}, {5, 6, 7, 4}}, {{5, 4}, {6, 5, 4, 7}, {7}}};
  const PairBatch plain = collate(corpus, {0, 1, 2}),
                  rounded = collate(corpus, {0, 1, 2}, 0, 1, {.rows = 4, .length = 8, .one_shape = true});
  for (const char* query : {"query: bahdanau", "query: luong", "query: {kind: transformer, num_heads: 2}"}) {
    SCOPED_TRACE(query);
    TranslationModel model = model_of(query);
    model.eval();
    const Predicted expected = model.predict(plain), got = model.predict(rounded);
    ASSERT_EQ(got.outputs.size(0), 4 * 8);
    const auto same = got.logits().index_select(0, expected.row * 8 + expected.position);
    EXPECT_TRUE(at::allclose(same, expected.logits(), 1e-4, 1e-5));
    const auto counts = got.wanted.ne(Tokenizer::kPad);
    EXPECT_EQ(counts.sum().item<int64_t>(), plain.target_tokens);
    EXPECT_TRUE(at::equal(got.wanted.masked_select(counts), expected.wanted));
  }
}

}  // namespace
}  // namespace heed
