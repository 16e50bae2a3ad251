// A document in two levels (hierarchical attention, Yang et al., 2016): words make sentences, sentences make the
// document. A word is (m, v): m = 1 marks an important word, v is its value. The learned query is set so that an
// important word, or a sentence that has one, gets three times the weight of another.
//
//   "great food"    (1, 4) (0, 0)    weights 3/4, 1/4    v = 3, important
//   "we ate"        (0, 1) (0, 1)    weights 1/2, 1/2    v = 1
//   (empty)                          masked
//   document                         weights 3/4, 1/4, 0    v = 3/4 3 + 1/4 1 = 2.5

#include <cmath>
#include <cstdio>

#include "heed/heed.h"

int main() {
  const at::NoGradGuard no_grad;
  const auto structure = heed::structure("hierarchical(depth=2)", {.features = {2}});
  for (auto& parameter : structure->named_parameters()) parameter.value().zero_();
  for (const std::string level : {"level_1", "level_2"}) {  // score = ln 3 tanh(40 m): ln 3 where m > 0, else 0
    structure->named_parameters()[level + ".score.from_keys"][0][0] = 40;
    structure->named_parameters()[level + ".score.query"][0][0] = std::log(3.0);
  }

  const auto sentence = [](std::vector<float> numbers) {
    return heed::Features{at::tensor(numbers).view({static_cast<int64_t>(numbers.size()) / 2, 2})};  // [L, D]
  };
  const auto document = heed::padded({sentence({1, 4, 0, 0}), sentence({0, 1, 0, 1}), sentence({})});  // [S, L, D]

  heed::StructureInput given{.features = {heed::padded({document})}};  // a batch of one document
  given.call.outputs.weights = true;
  const auto out = structure->forward(given);

  const auto in_sentences = out.step("level_1").weights;  // [sentences, 1, words]
  const auto in_document = out.step("level_2").weights;   // [documents, 1, sentences]
  const auto v = out.context[0][0][1].item<double>();
  std::printf("words      %.2f %.2f | %.2f %.2f\n", in_sentences[0][0][0].item<double>(),
              in_sentences[0][0][1].item<double>(), in_sentences[1][0][0].item<double>(),
              in_sentences[1][0][1].item<double>());
  std::printf("sentences  %.2f %.2f %.2f\n", in_document[0][0][0].item<double>(), in_document[0][0][1].item<double>(),
              in_document[0][0][2].item<double>());
  std::printf("document   %.2f\n", v);
  const auto right = [](const at::Tensor& found, std::vector<float> expected) {
    return at::allclose(found.flatten(), at::tensor(expected), 0, 1e-5);
  };
  return right(in_sentences, {.75, .25, .5, .5, 0, 0}) && right(in_document, {.75, .25, 0}) && std::abs(v - 2.5) < 1e-5
             ? 0
             : 1;
}
