// The graph attention network that the authors of GAT trained on Cora: parameters, logits and attention weights are
// theirs. The data are files outside the repository, in the folder HEED_DATA; without them the test is skipped.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <zlib.h>

#include "heed/attention/testing.h"
#include "heed/structures/graph/gat.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

std::string data_folder() {
  const char* given = std::getenv("HEED_DATA");
  return given != nullptr && *given != '\0' ? given : "../shared/data";
}

std::vector<std::string> lines_of(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  check(file != nullptr, "test: cannot open ", path);
  std::string text;
  char some[4096];
  for (int n = gzread(file, some, sizeof some); n > 0; n = gzread(file, some, sizeof some))
    text.append(some, static_cast<size_t>(n));
  gzclose(file);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct Cora {
  Tensor features;  // [N, 1433], rows sum to 1
  std::vector<int64_t> labels;
  std::vector<std::string> split;
  Tensor edges;  // both ways

  static Cora load(const std::string& folder) {
    Cora cora;
    for (const auto& line : lines_of(folder + "/nodes.txt.gz")) {
      std::istringstream fields(line);
      int64_t node = 0, label = 0;
      std::string split;
      fields >> node >> label >> split;
      cora.labels.push_back(label);
      cora.split.push_back(split);
    }
    const auto features = lines_of(folder + "/features.txt.gz");
    cora.features = at::zeros({static_cast<int64_t>(features.size()), 1433});
    auto x = cora.features.accessor<float, 2>();
    for (size_t i = 0; i < features.size(); ++i) {
      std::istringstream fields(features[i]);
      for (int64_t word = 0; fields >> word;) x[static_cast<int64_t>(i)][word] = 1;
    }
    cora.features /= cora.features.sum(1, /*keepdim=*/true).clamp_min(1);
    std::vector<int64_t> from, to;
    for (const auto& line : lines_of(folder + "/edges.txt.gz")) {
      std::istringstream fields(line);
      int64_t u = 0, v = 0;
      fields >> u >> v;
      from.insert(from.end(), {u, v});
      to.insert(to.end(), {v, u});
    }
    cora.edges = at::stack({at::tensor(from, at::kLong), at::tensor(to, at::kLong)});
    return cora;
  }
};

/// The heads layer<n>.head<h>.* of the file, as one layer.
GraphAttention layer_from(const NamedTensors& file, const std::string& layer, const GraphAttentionOptions& options) {
  GraphAttention made(options);
  const auto stacked = [&](const std::string& name) {
    std::vector<Tensor> all;
    for (int64_t h = 0; h < options.num_heads; ++h)
      all.push_back(file.at(layer + ".head" + std::to_string(h) + "." + name));
    return at::stack(all);
  };
  const at::NoGradGuard no_grad;
  auto parameters = made->named_parameters();
  parameters["values"].copy_(stacked("W").transpose(1, 2));
  parameters["self"].copy_(stacked("a_self"));
  parameters["neighbor"].copy_(stacked("a_neigh"));
  parameters["self_bias"].copy_(stacked("a_self_bias").flatten());
  parameters["neighbor_bias"].copy_(stacked("a_neigh_bias").flatten());
  parameters["bias"].copy_(stacked("bias").flatten());
  made->eval();
  return made;
}

TEST(GatOnCora, GivesTheLogitsTheAttentionAndTheAccuracyOfTheAuthorsModel) {
  const auto model = data_folder() + "/gat-cora-pretrained", data = data_folder() + "/cora";
  if (!std::ifstream(model + "/gat_cora.safetensors").good() || !std::ifstream(data + "/edges.txt.gz").good())
    GTEST_SKIP() << "no " << model << " or " << data << "; HEED_DATA names the folder of the data";
  const Cora cora = Cora::load(data);
  const auto file = load_safetensors(model + "/gat_cora.safetensors").tensors;
  auto first =
      layer_from(file, "layer1",
                 {.in_dim = 1433, .out_dim = 8, .num_heads = 8, .score_bias = true, .activation = GatActivation::elu});
  auto second = layer_from(file, "layer2", {.in_dim = 64, .out_dim = 7, .score_bias = true});
  const Graph graph(cora.edges, static_cast<int64_t>(cora.labels.size()));
  const auto hidden = first->forward(cora.features, graph).context;
  const auto found = second->forward(hidden, graph, {.weights = true});

  double max = 0;
  int64_t right = 0, tested = 0, same = 0;
  const auto chosen = found.context.argmax(1);
  const auto lines = lines_of(model + "/expected_logits.txt.gz");
  ASSERT_EQ(lines.size(), cora.labels.size());
  for (const auto& line : lines) {
    std::istringstream fields(line);
    int64_t node = 0, predicted = 0;
    fields >> node >> predicted;
    for (int64_t c = 0; c < 7; ++c) {
      double logit = NAN;
      fields >> logit;
      max = std::max(max, std::abs(logit - found.context[node][c].item<double>()));
    }
    same += chosen[node].item<int64_t>() == predicted;
    if (cora.split[static_cast<size_t>(node)] != "test") continue;
    ++tested;
    right += chosen[node].item<int64_t>() == cora.labels[static_cast<size_t>(node)];
  }
  EXPECT_LT(max, 1e-4);
  RecordProperty("largest_difference_of_logits", std::to_string(max));
  EXPECT_EQ(same, static_cast<int64_t>(lines.size()));
  EXPECT_EQ(tested, 1000);
  EXPECT_EQ(right, 844);

  std::map<std::pair<int64_t, int64_t>, double> weights;  // of (i, j)
  const auto edges = graph.with_self_loops().edges();
  for (int64_t e = 0; e < edges.size(1); ++e)
    weights[{edges[1][e].item<int64_t>(), edges[0][e].item<int64_t>()}] = found.weights[e][0].item<double>();
  int64_t compared = 0;
  for (const auto& line : lines_of(model + "/expected_attention_layer2.txt.gz")) {
    std::istringstream fields(line);
    int64_t node = 0, neighbor = 0;
    fields >> node;
    char colon = 0;
    for (double weight = 0; fields >> neighbor >> colon >> weight; ++compared) {
      const auto at = weights.find({node, neighbor});
      ASSERT_NE(at, weights.end()) << node << " " << neighbor;
      ASSERT_NEAR(at->second, weight, 1e-5) << node << " " << neighbor;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace heed::testing
