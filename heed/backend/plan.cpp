#include "heed/backend/plan.h"

#include <algorithm>
#include <sstream>

namespace heed::backend {
namespace {

/// "additive + entmax(1.5), multi"
std::string mechanism_of(const CallRecord& record) {
  return record.spec->score.to_string() + " + " + record.spec->align.to_string() +
         (record.single() ? "" : ", " + to_string(record.sizes().dimensionality));
}

std::string reason_of(const Backend& backend, const CallRecord& record, const std::string& missing) {
  return backend.path() == Path::fused ? "no kernel for " + mechanism_of(record) + ": " + missing : missing;
}

std::string slower_than(const Backend& chosen) {
  return "slower than " + (chosen.path() == Path::fused ? "the kernel" : to_string(chosen.path()) + " for this call");
}

/// Why attend() refuses the requested path.
std::string refusal(const CallRecord& record, const std::string& missing) {
  if (record.call.path == Path::fused)
    return "no fused kernel for " + mechanism_of(record) + ": " + missing + "; use Path::fastest or Path::composed";
  return "the " + to_string(record.call.path) + " path " + missing;
}

/// Whether another fused backend is for the device of the call, so that `backend` need not say why it does not run.
bool is_for_another_device(const Backend& backend, const at::Device& device) {
  if (backend.path() != Path::fused || backend.runs_on(device)) return false;
  return std::any_of(backends().begin(), backends().end(),
                     [&](const auto& other) { return other->path() == Path::fused && other->runs_on(device); });
}

}  // namespace

Choice plan(const CallRecord& record) {
  const Path requested = record.call.path;
  const at::Device device = record.in[kValues].device();
  Choice choice;
  Plan& plan = choice.plan;
  int best = 0;
  std::string missing;
  const auto reject = [&](const Backend& other, std::string reason) {
    plan.rejected.emplace_back(other.path(), std::move(reason));
  };
  for (const auto& candidate : backends()) {
    const Backend& backend = *candidate;
    if (is_for_another_device(backend, device)) continue;
    const int priority = backend.priority(record);
    if (requested == Path::fastest ? priority < 0 : backend.path() != requested) {
      // A kernel that does not exist is said so, even if another path was requested.
      std::string none = backend.path() == Path::fused ? backend.why_not(record) : "";
      if (!none.empty())
        reject(backend, reason_of(backend, record, none));
      else
        reject(backend,
               requested == Path::fastest || backend.path() == Path::stored || backend.path() == Path::reference
                   ? backend.on_request(record)
                   : to_string(requested) + " was requested");
      continue;
    }
    if (std::string none = backend.why_not(record); !none.empty()) {
      reject(backend, reason_of(backend, record, none));
      missing += (missing.empty() ? "" : "; ") + none;
    } else if (choice.backend == nullptr || priority > best) {
      if (choice.backend != nullptr) reject(*choice.backend, slower_than(backend));
      choice.backend = &backend;
      best = priority;
    } else {
      reject(backend, slower_than(*choice.backend));
    }
  }
  plan.path = choice.backend != nullptr ? choice.backend->path() : requested;
  if (choice.backend != nullptr)
    choice.backend->describe(record, plan);
  else
    plan.refused = refusal(record, missing);
  const Noise& noise = record.call.noise;
  plan.sampled = noise.sample && (record.offers.draws || record.offers.policy);
  plan.seed = plan.sampled || noise.dropout > 0 ? noise.seed : 0;
  return choice;
}

}  // namespace heed::backend

namespace heed {

std::string to_string(Path path) {
  switch (path) {
    case Path::fastest:
      return "fastest";
    case Path::fused:
      return "fused";
    case Path::composed:
      return "composed";
    case Path::stored:
      return "stored";
    case Path::reference:
      return "reference";
  }
  fail("path: not one of the five");
}

std::string Plan::to_string() const {
  if (!refused.empty()) return "refused: " + refused;
  std::ostringstream text;
  text << heed::to_string(path) << ": ";
  if (path == Path::fused)
    text << "kernel " << kernel;
  else
    text << "blocks of batch elements x queries = " << block_rows << " x " << block_queries;
  text << ", about " << (bytes + (1 << 20) - 1) / (1 << 20) << " MiB at once";
  for (const auto& [other, reason] : rejected) text << "; not " << heed::to_string(other) << ": " << reason;
  return text.str();
}

}  // namespace heed
