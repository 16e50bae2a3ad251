// Saving and loading, for every mechanism: what comes back attends with the same bits.

#include <unistd.h>

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

class EverySavedMechanism : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EverySavedMechanism, ::testing::ValuesIn(every_mechanism()), test_name);

TEST_P(EverySavedMechanism, AttendsAsBefore) {
  const std::string path = ::testing::TempDir() + "heed_saved_" + std::to_string(::getpid()) + ".safetensors";
  for (const int64_t heads : {1, 2}) {
    const AttentionOptions options{.query_dim = kWidth,
                                   .key_dim = kWidth,
                                   .value_dim = kValues,
                                   .hidden_dim = 2 * kWidth,
                                   .num_heads = heads,
                                   .mechanism = Mechanism::parse(GetParam())};
    at::manual_seed(1);
    Attention saved(options);
    at::manual_seed(2);
    Attention loaded(options);
    const auto q = at::randn({2, 3, kWidth}), k = at::randn({2, 4, kWidth}), v = at::randn({2, 4, kValues});
    saved->eval();
    loaded->eval();
    save_parameters(*saved, path);
    load_parameters(*loaded, path);
    EXPECT_TRUE(same_bits(saved->forward(q, k, v).context, loaded->forward(q, k, v).context)) << heads << " heads";
  }
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace heed::testing
