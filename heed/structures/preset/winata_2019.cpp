// Hierarchical meta-embeddings (Winata et al., 2019): embeddings of several languages are combined into one, followed
// by multi-head self-attention over the words.
//
//   x_t = sum_i a_i (W_i x_t^(i) + b_i)               multi_representational
//   x <- LayerNorm(x + MultiHead(x, x))               layer by layer

#include "heed/structures/preset.h"

namespace heed {
namespace {

class MetaEmbeddingEncoder final : public Structure {
 public:
  MetaEmbeddingEncoder(const Options& spec, const StructureOptions& given) : Structure(given, "scaled_dot + softmax") {
    inputs_ = spec.integer("inputs", std::max<int64_t>(2, static_cast<int64_t>(given.features.size())));
    const int64_t heads = spec.integer("num_heads", given.num_heads > 1 ? given.num_heads : 2),
                  layers = spec.integer("num_layers", 1);
    embed_ = nested("embed", "multi_representational(inputs=" + std::to_string(inputs_) + ")",
                    {.features = given.features, .hidden_dim = given.hidden_dim});
    check(heads >= 1 && embed_->width() % heads == 0, "meta_embedding_encoder: a width of ", embed_->width(),
          " does not split into ", heads, " heads; expected a multiple");
    read_ =
        nested("read", "stack(num_layers=" + std::to_string(layers) + ")",
               {.features = {embed_->width()}, .num_heads = heads, .mechanism = inside(), .dropout = given.dropout});
  }

  StructureSignature takes() const override { return embed_->takes(); }
  int64_t width() const override { return read_->width(); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const StructureOutput embedded = embed_(out, {.features = in.features, .call = in.call});
    const StructureOutput read = read_(out, {.features = {{embedded.context, embedded.keep}}, .call = in.call});
    out.context = read.context;  // [B, L, D]
    out.keep = read.keep;
    return out;
  }

  int64_t inputs_ = 0;
  Nested embed_, read_;
};

const Structure::Parts::Entry meta_embedding_encoder_entry{
    "meta_embedding_encoder",
    make_structure<MetaEmbeddingEncoder>,
    {.formula = "x_t = sum_i a_i (W_i x_t^(i) + b_i); x <- LayerNorm(x + MultiHead(x, x))",
     .paper = "Winata et al., 2019",
     .cost = "E D^2 for each word, and h mechanisms over L x L",
     .choose = "several embeddings of a word, read in context",
     .axis = "representations",
     .order = 2}};

const Preset::Entry winata_2019{
    "winata_2019",
    {.paper = "Winata et al., 2019, Hierarchical meta-embeddings for code-switching named entity recognition",
     .axes = {"singular", "single", "multi_representational", "additive, scaled_dot", "softmax", "single",
              "self_attentive", "multi_head"},
     .structure = "meta_embedding_encoder",
     .mechanisms = {"scaled_dot + softmax"}}};

}  // namespace
}  // namespace heed
