// Features of a convolution: each token with its neighbors, at one or several widths (Kim, 2014).
//
//   f_l = act(sum_o W_o x_{l+o} + b),  -k/2 <= o <= k/2        the features of all widths k side by side
//
// What lies beyond the ends of a text, and padding, is 0. A width of 1 is a layer applied to each token.

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>

#include "heed/backend/dropout.h"
#include "heed/base/scalar.h"
#include "heed/models/components.h"

namespace heed {
namespace {

struct ConvolutionValues {
  int64_t dim = 300;
  std::vector<std::string> widths{"3"};
  std::string activation = "relu";
  double dropout = 0;
};

const RecipeTable<ConvolutionValues> convolution_keys{
    {"dim", &ConvolutionValues::dim, "width of the features, of all widths together", {.min = 1, .max = kMaxWidth}},
    {"widths", &ConvolutionValues::widths, "numbers of tokens that a feature reads, odd: `[3, 5]`"},
    {"activation", &ConvolutionValues::activation, "activation", {.choices = {"relu", "elu", "tanh"}}},
    {"dropout", &ConvolutionValues::dropout, "dropout on the features", {.min = 0, .max = 0.99}}};

constexpr int64_t kMaxTokensRead = 1023;

class ConvolutionFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return convolution_keys.list(); }
  ConvolutionFeatures(const Settings& s, int64_t in) : values_(convolution_keys.read(s)), in_(in) {
    for (const auto& text : values_.widths) {
      int64_t width = 0;
      if (!read_integer(text, width) || width < 1 || width > kMaxTokensRead || width % 2 == 0)
        s.refuse("widths", "has '", text, "', expected odd numbers from 1 to ", kMaxTokensRead);
      widths_.push_back(width);
    }
    if (widths_.empty()) s.refuse("widths", "is empty, expected odd numbers, such as [3]");
    const auto count = static_cast<int64_t>(widths_.size());
    if (values_.dim % count != 0)
      s.refuse("dim", "is ", values_.dim, ", expected a multiple of ", count, ", the number of widths");
  }
  void build() override {
    layers_ = register_module("layers", torch::nn::ModuleList());
    const int64_t out = values_.dim / static_cast<int64_t>(widths_.size());
    for (const int64_t width : widths_)
      layers_->push_back(torch::nn::Conv1d(torch::nn::Conv1dOptions(in_, out, width).padding(width / 2)));
  }
  FeatureOutput encode(const Features& embedded, const Call&) override {
    const Tensor columns = embedded.without_padding().rows.transpose(1, 2);  // [B, in, L]
    std::vector<Tensor> found;
    for (size_t i = 0; i < widths_.size(); ++i)
      found.push_back(layers_->ptr<torch::nn::Conv1dImpl>(i)->forward(columns));
    const Tensor rows = heed::dropout(activated(at::cat(found, 1).transpose(1, 2)), values_.dropout, is_training());
    // Under autocast convolutions give bfloat16.
    const Features features = embedded.with_rows(rows.to(embedded.rows.scalar_type())).without_padding();
    return {{features, mean(features).squeeze(1)}};
  }
  int64_t width() const override { return values_.dim; }

 private:
  Tensor activated(const Tensor& x) const {
    return values_.activation == "relu" ? at::relu(x) : values_.activation == "elu" ? at::elu(x) : at::tanh(x);
  }

  ConvolutionValues values_;
  int64_t in_;
  std::vector<int64_t> widths_;
  torch::nn::ModuleList layers_{nullptr};
};

const ComponentEntry<FeatureModel, ConvolutionFeatures> convolution_features_entry{
    "convolution",
    {.formula = "f_l = act(sum_o W_o x_{l+o} + b)",
     .paper = "Kim, 2014",
     .choose = "phrases matter more than order, speed; a width of 1 is a layer on each token",
     .synonyms = {"cnn"},
     .order = 4}};

}  // namespace
}  // namespace heed
