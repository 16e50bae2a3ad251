// A model trained by others: the Transformer of ../shared/data/transformer-aren-pretrained, Arabic to Latin letters.
// With its weights, Heed must reproduce its log-probabilities, cross-attention and greedy outputs. The data are in the
// folder HEED_DATA; without them the tests are skipped.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "heed/attention/testing.h"
#include "heed/structures/decode/transformer_decoder.h"
#include "heed/structures/encode/transformer_encoder.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

constexpr int64_t kLetterWidth = 32, kBegin = 1, kEnd = 2;

std::string transliteration_folder() {
  const char* given = std::getenv("HEED_DATA");
  return std::string(given != nullptr ? given : "../shared/data") + "/transformer-aren-pretrained/";
}

class Transliteration : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = transliteration_folder();
    if (!std::filesystem::exists(folder_ + "model.safetensors"))
      GTEST_SKIP() << folder_ << " is not there; HEED_DATA names the folder of data";
    weights_ = load_safetensors(folder_ + "model.safetensors").tensors;
    sources_ = letters("source_vocabulary.txt");
    targets_ = letters("target_vocabulary.txt");
    std::ifstream(folder_ + "expected.json") >> expected_;
    TransformerOptions o;
    o.dim = kLetterWidth;
    o.num_heads = 8;
    o.num_layers = 6;
    o.feed_forward_dim = 128;
    encoder_ = TransformerEncoder(o);
    decoder_ = TransformerDecoder(o);
    fill(*encoder_, "encoder.", {"self"});
    fill(*decoder_, "decoder.", {"self", "cross"});
    encoder_->eval();
    decoder_->eval();
  }

  std::vector<std::string> letters(const std::string& file) const {
    std::vector<std::string> all;
    std::ifstream text(folder_ + file);
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }

  static void copy(Tensor to, const Tensor& from) {
    ASSERT_EQ(to.sizes(), from.sizes());
    to.copy_(from);
  }

  /// Theirs: <side>.layer_i.attention.linear_0 ...; ours: layers.i.cross.heads.query ...
  void fill(torch::nn::Module& module, const std::string& side, const std::vector<std::string>& attentions) {
    const at::NoGradGuard no_grad;
    auto ours = module.named_parameters();
    const auto norm = [&](const std::string& mine, const std::string& theirs) {
      copy(ours[mine + ".weight"], weights_.at(theirs + ".gamma"));
      copy(ours[mine + ".bias"], weights_.at(theirs + ".beta"));
    };
    for (int i = 0; i < 6; ++i) {
      const std::string mine = "layers." + std::to_string(i) + ".", theirs = side + "layer_" + std::to_string(i) + ".";
      for (const auto& name : attentions) {
        const auto from = theirs + (name == "self" ? "self_attention." : "attention.");
        fill_attention(ours, mine + name + ".heads.", from, name == "self");
        norm(mine + name + "_norm", from + "layer_norm");
      }
      for (const char* kind : {".weight", ".bias"}) {
        copy(ours[mine + "feed_forward.in" + kind], weights_.at(theirs + "ffn.linear_0" + kind));
        copy(ours[mine + "feed_forward.out" + kind], weights_.at(theirs + "ffn.linear_1" + kind));
      }
      norm(mine + "feed_forward_norm", theirs + "ffn.layer_norm");
    }
    norm("norm", side + "layer_norm");
  }

  /// Their projections of one input are stacked in one matrix: query, keys, values.
  void fill_attention(torch::OrderedDict<std::string, Tensor>& ours, const std::string& mine, const std::string& theirs,
                      bool self) const {
    for (const auto& [kind, ending] : {std::pair{".weight", ""}, {".bias", "_bias"}}) {
      const auto at_linear = [&, k = std::string(kind)](int n) {
        return weights_.at(theirs + "linear_" + std::to_string(n) + k);
      };
      const auto stacked = self ? at_linear(0) : at::cat({at_linear(0), at_linear(1)});
      const auto parts = stacked.split(kLetterWidth);
      ASSERT_EQ(parts.size(), 3u);
      copy(ours[mine + "query" + ending], parts[0]);
      copy(ours[mine + "keys" + ending], parts[1]);
      copy(ours[mine + "values" + ending], parts[2]);
      copy(ours[mine + "out" + ending], at_linear(self ? 1 : 2));
    }
  }

  static std::vector<int64_t> ids(const nlohmann::json& spec, const std::vector<std::string>& vocabulary) {
    std::vector<int64_t> all;
    for (const auto& word : spec) {
      const auto found = std::find(vocabulary.begin(), vocabulary.end(), word.get<std::string>());
      all.push_back(found - vocabulary.begin());
    }
    return all;
  }

  /// [1, L, 32]: embedded letters plus position encodings.
  Tensor embedded(const std::string& side, const std::vector<int64_t>& letters, int64_t first = 0) const {
    const auto rows = weights_.at(side + ".embeddings.weight").index_select(0, at::tensor(letters));
    return (rows * std::sqrt(static_cast<double>(kLetterWidth)) +
            sinusoidal_positions(rows.size(0), kLetterWidth, Layout::halves, first + 1))
        .unsqueeze(0);
  }
  Features encoded(const nlohmann::json& source) {
    return encoder_->forward({embedded("encoder", ids(source, sources_)), {}});
  }
  /// Decoded targets [1, T, 32] -> [T, letters].
  Tensor log_probabilities(const Tensor& rows) const {
    return at::linear(rows[0], weights_.at("decoder.projection.weight"), weights_.at("decoder.projection.bias"))
        .log_softmax(-1);
  }

  std::string folder_;
  NamedTensors weights_;
  std::vector<std::string> sources_, targets_;
  nlohmann::json expected_;
  TransformerEncoder encoder_{nullptr};
  TransformerDecoder decoder_{nullptr};
};

TEST_F(Transliteration, GivesItsLogProbabilitiesAndCrossAttention) {
  const at::NoGradGuard no_grad;
  Call call;
  call.outputs.weights = true;
  ASSERT_GE(expected_["scored_pairs"].size(), 2u);
  for (const auto& pair : expected_["scored_pairs"]) {
    auto in = ids(pair["target"], targets_), out = in;
    in.insert(in.begin(), kBegin);
    out.push_back(kEnd);
    const auto decoded = decoder_->decode({embedded("decoder", in), {}}, encoded(pair["source"]), call);
    const auto found = log_probabilities(decoded.features.rows).gather(1, at::tensor(out).unsqueeze(1)).squeeze(1);
    EXPECT_TRUE(close(found, at::tensor(pair["token_logprob"].get<std::vector<double>>(), kDouble), 1e-5));

    const auto weights = decoded.step("layers.5.cross").weights[0].mean(0);  // [T, L], over the heads
    const auto rows = pair["cross_attention_last_layer_head_mean"].get<std::vector<std::vector<double>>>();
    ASSERT_EQ(static_cast<int64_t>(rows.size()), weights.size(0));
    for (size_t t = 0; t < rows.size(); ++t)
      EXPECT_TRUE(close(weights[static_cast<int64_t>(t)], at::tensor(rows[t], kDouble), 1e-5)) << t;
  }
}

TEST_F(Transliteration, WritesItsGreedyOutputsStepByStep) {
  const at::NoGradGuard no_grad;
  ASSERT_GE(expected_["greedy"].size(), 2u);
  for (const auto& one : expected_["greedy"]) {
    auto cache = decoder_->start(encoded(one["source"]));
    std::vector<int64_t> written;
    std::vector<double> found;
    for (int64_t letter = kBegin; letter != kEnd && written.size() < 20;) {
      const auto scores = log_probabilities(decoder_->step(embedded("decoder", {letter}, cache.length()), cache))[0];
      letter = scores.argmax().item<int64_t>();
      found.push_back(scores[letter].item<double>());
      if (letter != kEnd) written.push_back(letter);
    }
    EXPECT_EQ(written, ids(one["greedy"], targets_));
    EXPECT_TRUE(
        close(at::tensor(found, kDouble), at::tensor(one["token_logprob"].get<std::vector<double>>(), kDouble), 1e-5));
  }
}

// Both sources in one batch, the shorter one padded, give the same results as each alone.
TEST_F(Transliteration, GivesTheSameInABatch) {
  const at::NoGradGuard no_grad;
  std::vector<Features> sources, targets, alone;
  for (const auto& pair : expected_["scored_pairs"]) {
    auto in = ids(pair["target"], targets_);
    in.insert(in.begin(), kBegin);
    sources.push_back({embedded("encoder", ids(pair["source"], sources_))[0], {}});
    targets.push_back({embedded("decoder", in)[0], {}});
    alone.push_back(decoder_->forward({targets.back().rows.unsqueeze(0), {}}, encoded(pair["source"])));
  }
  const auto together = decoder_->forward(padded(targets), encoder_->forward(padded(sources)));
  for (size_t b = 0; b < alone.size(); ++b)
    EXPECT_TRUE(close(together.rows[static_cast<int64_t>(b)].narrow(0, 0, alone[b].length()), alone[b].rows[0], 1e-4));
}

}  // namespace
}  // namespace heed::testing
