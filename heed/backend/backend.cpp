#include "heed/backend/backend.h"

#include <algorithm>

namespace heed::backend {

Tensors Backend::forward_graph(const GraphRecord&, Tensors*) const {
  fail("backend: got a graph, expected a backend whose why_not_graph() is empty");
}
Tensors Backend::backward_graph(const GraphRecord&, const Tensors&, const Tensors&, const std::vector<bool>&) const {
  fail("backend: got a graph, expected a backend whose why_not_graph() is empty");
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
  static const Backend& found = *[] {
    for (const auto& backend : backends())
      if (backend->differentiates_twice()) return backend.get();
    fail("backend: got none that differentiates twice, expected one");
  }();
  return found;
}

}  // namespace heed::backend
