#include "heed/attention/attend.h"

#include <optional>

#include <ATen/core/LegacyTypeDispatch.h>

#include "heed/attention/attend_finite.h"
#include "heed/attention/finish.h"
#include "heed/attention/normalize.h"
#include "heed/attention/prepare.h"
#include "heed/backend/plan.h"
#include "heed/backend/run.h"
#include "heed/torch_support/autocast.h"

namespace heed {

using namespace backend;

namespace {

Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                const Parameters& parameters, const Call& call, bool finite) {
  const Tensor q = full(query), k = full(keys), v = full(values);
  const FullPrecision precision;
  CallRecord record = normalize(q, k, v, mechanism, parameters, call);
  Choice choice = plan(record);
  check(choice.backend != nullptr, "attend: ", choice.plan.refused);
  std::optional<at::AutoDispatchBelowAutograd> nothing_to_record;  // a small call on a GPU is bound by the host
  if (v.is_cuda() && !at::GradMode::is_enabled()) nothing_to_record.emplace();
  prepare(record, *choice.backend, finite);
  Attended result = run(*choice.backend, record);
  return finish(record, std::move(result), std::move(choice.plan));
}

}  // namespace

Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                const Parameters& parameters, const Call& call) {
  return attend(query, keys, values, mechanism, parameters, call, /*finite=*/false);
}

Attended attend_finite(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                       const Parameters& parameters, const Call& call) {
  return attend(query, keys, values, mechanism, parameters, call, /*finite=*/true);
}

Plan why(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
         const Parameters& parameters, const Call& call) {
  Call quiet = call;  // a plan must not advance torch's generator
  if (call.noise.seed == 0) quiet.noise.seed = 1;
  Plan found = plan(normalize(query, keys, values, mechanism, parameters, quiet)).plan;
  found.seed = call.noise.seed;
  return found;
}

}  // namespace heed
