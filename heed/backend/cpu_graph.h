// Attention over the edges of a graph on the CPU kernels.

#pragma once

#include "heed/backend/graph_record.h"

namespace heed::backend::cpu_graph {

Tensors forward(const GraphRecord& record, Tensors* saved);
Tensors backward(const GraphRecord& record, const Tensors& saved, const Tensors& grads,
                 const std::vector<bool>& wanted);

}  // namespace heed::backend::cpu_graph
