// A saved model belongs to one config.json.

#include "heed/torch_support/model_file.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>
#include <torch/nn/module.h>

#include "heed/data/saved_model.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class SavedModel : public FolderTest {
 protected:
  /// A module with one parameter, filled with a number.
  static torch::nn::Module module_of(double value) {
    torch::nn::Module module("saved");
    module.register_parameter("w", at::full({2, 3}, value));
    return module;
  }
  static bool is_filled_with(const torch::nn::Module& module, double value) {
    return module.named_parameters()["w"].detach().equal(at::full({2, 3}, value));
  }
};

// The shapes are the same, so that only the hash of config.json tells the two runs apart: "heads" is 2 in one, 3 in
// the other.
TEST_F(SavedModel, IsRefusedBesideTheConfigOfAnotherRun) {
  write_config(folder_, {{"task", "translate"}, {"heads", 2}});
  save_model(module_of(5), folder_, file_md5(path("config.json")));
  torch::nn::Module same = module_of(0);
  EXPECT_EQ(error_of([&] { load_model(same, folder_); }), "no error");
  EXPECT_TRUE(is_filled_with(same, 5));

  write_config(folder_, {{"task", "translate"}, {"heads", 3}});
  torch::nn::Module other = module_of(0);
  EXPECT_TRUE(says(error_of([&] { load_model(other, folder_); }),
                   {path("config.json") + ": got md5 ", "model.safetensors", "it is damaged or of another run"}));
  EXPECT_TRUE(is_filled_with(other, 0));
}

}  // namespace
}  // namespace heed::testing
