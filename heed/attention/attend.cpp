#include "heed/attention/attend.h"

#include <optional>

#include <ATen/core/LegacyTypeDispatch.h>

#include "heed/attention/attend_finite.h"
#include "heed/attention/finish.h"
#include "heed/attention/half.h"
#include "heed/attention/mechanism_parts.h"
#include "heed/attention/normalize.h"
#include "heed/attention/prepare.h"
#include "heed/backend/plan.h"
#include "heed/backend/run.h"
#include "heed/torch_support/autocast.h"

namespace heed {

using namespace backend;

namespace {

/// A call on a half type as a call on float. The conversions are in the graph, so gradients have the types of the
/// tensors that they belong to.
struct WidenedCall {
  WidenedCall(const Tensor& q, const Tensor& k, const Tensor& v, const Parameters& given, const Call& options)
      : query(widened(q)), keys(widened(k)), values(widened(v)), call(options) {
    check((!q.defined() || q.scalar_type() == k.scalar_type()) && v.defined() && v.scalar_type() == k.scalar_type(),
          "attend: query is ", q.defined() ? toString(q.scalar_type()) : "undefined", ", keys ",
          toString(k.scalar_type()), ", values ", v.defined() ? toString(v.scalar_type()) : "undefined",
          "; expected one type for all three; convert them with to()");
    parameters = widened(given);
    for (const SlotSpec& spec : kSlotSpecs)
      if (spec.of != nullptr && spec.like_query) spec.of(call) = widened(spec.of(call));
  }

  Tensor query, keys, values;
  Parameters parameters;
  Call call;
};

/// The record of the float call and the choice for it, if its backend has an engine for half types.
struct HalfEngine {
  CallRecord record;
  Choice choice;

  static std::optional<HalfEngine> of(const Tensor& q, const Tensor& k, const Tensor& v, const Mechanism& mechanism,
                                      const Parameters& parameters, const Call& call) {
    if (!k.is_cuda() || !is_half(q) || !is_half(v) || call.replace_weights) return {};
    const bool learning = learns({q, k, v});
    const auto like = [&](const Tensor& x) {  // never read
      return at::empty(x.sizes(), x.options().dtype(at::kFloat)).requires_grad_(learning);
    };
    CallRecord record = normalize(like(q), like(k), like(v), mechanism, widened(parameters), call);
    Choice choice = plan(record);
    if (choice.backend == nullptr || !choice.backend->has_half_engine(record, learning)) return {};
    const Score& score = *record.parts->score;
    record.score_scale = score.tile(record.names.of("score"), record.in[kQuery], record.in[kKeys]).scale;
    choice.plan.kernel += std::string(", in ") + toString(k.scalar_type());
    return HalfEngine{std::move(record), std::move(choice)};
  }
};

Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                const Parameters& parameters, const Call& call, bool finite) {
  const Tensor q = full(query), k = full(keys), v = full(values);
  if (is_half(k)) {
    if (auto engine = HalfEngine::of(q, k, v, mechanism, parameters, call)) {
      Attended result;
      result.context = engine->choice.backend->attend_half(engine->record, q, k, v);
      result.plan = std::move(engine->choice.plan);
      return result;
    }
    const WidenedCall wide(q, k, v, parameters, call);
    Attended result = attend(wide.query, wide.keys, wide.values, mechanism, wide.parameters, wide.call, finite);
    result.context = result.context.to(k.scalar_type());
    return result;
  }
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
  if (is_half(keys)) {
    if (auto engine = HalfEngine::of(query, keys, values, mechanism, parameters, call))
      return std::move(engine->choice.plan);
    const WidenedCall wide(query, keys, values, parameters, call);
    return why(wide.query, wide.keys, wide.values, mechanism, wide.parameters, wide.call);
  }
  Call quiet = call;  // a plan must not advance torch's generator
  if (call.noise.seed == 0) quiet.noise.seed = 1;
  Plan found = plan(normalize(query, keys, values, mechanism, parameters, quiet)).plan;
  found.seed = call.noise.seed;
  return found;
}

}  // namespace heed
