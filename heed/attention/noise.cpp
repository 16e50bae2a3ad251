#include "heed/attention/noise.h"

#include "heed/torch_support/noise_scope.h"

namespace heed {

void follow_scope(Noise& noise) {
  NoiseScope* scope = NoiseScope::current();
  if (scope == nullptr || noise.seed != 0 || noise.stream != 0) return;
  noise.seed = scope->seed();
  noise.stream = scope->next_use();
  noise.first_row += scope->first_row() * noise.rows_each;
}

}  // namespace heed
