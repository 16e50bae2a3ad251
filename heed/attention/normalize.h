// The first step of a call: checks what the caller gave, and brings it into one form, the record.

#pragma once

#include "heed/attention/mechanism.h"
#include "heed/backend/record.h"

namespace heed {

/// The record of a call with unprepared keys. Throws Error if an input does not fit.
backend::CallRecord normalize(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                              const Parameters& parameters, const Call& call);

/// A record of these sizes, with mask, bias, noise and requested outputs checked, and without query, keys, values and
/// parameters: for a module that attends a memory. like: a tensor of its type and device.
backend::CallRecord normalize_options(const Mechanism& mechanism, const Call& call, int64_t batch, int64_t heads,
                                      int64_t queries, int64_t keys, const Sizes& sizes, const Tensor& like);

/// Sets the parameters of both parts, which have been checked.
void set_parameters(backend::CallRecord& record, const Parameters& parameters);

}  // namespace heed
