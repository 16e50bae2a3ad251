#include "heed/backend/backend.h"

#include <algorithm>

namespace heed::backend {

Tensors Backend::forward_graph(const GraphRecord&, Tensors*) const {
  fail("backend: got a graph, expected a backend whose why_not_graph() is empty");
}
Tensors Backend::backward_graph(const GraphRecord&, const Tensors&, const Tensors&, const std::vector<bool>&) const {
  fail("backend: got a graph, expected a backend whose why_not_graph() is empty");
}

std::string why_not_read(const CallRecord& record, std::initializer_list<Slot> read) {
  for (size_t slot = 0; slot < kSlots; ++slot) {
    if (kSlotSpecs[slot].of == nullptr || !record.in[slot].defined()) continue;
    if (std::find(read.begin(), read.end(), slot) == read.end())
      return std::string("it does not read ") + kSlotSpecs[slot].name + ", which the call has";
  }
  return "";
}

const std::vector<std::shared_ptr<const Backend>>& backends() {
  // Never destroyed: calls may run while the program ends.
  static const auto& all = *new std::vector<std::shared_ptr<const Backend>>([] {
    std::vector<std::shared_ptr<const Backend>> made;
    for (const auto& name : Catalogue<Backend>::names()) made.push_back(Catalogue<Backend>::make(name));
    return made;
  }());
  return all;
}

const Backend& twice_differentiable_backend() {
  static const auto& composed = *new std::shared_ptr<const Backend>(Catalogue<Backend>::make("composed"));
  return *composed;
}

}  // namespace heed::backend
