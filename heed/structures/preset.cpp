#include "heed/structures/preset.h"

#include <map>

#include "heed/base/nearest.h"

namespace heed {
namespace {

std::map<std::string, Preset>& presets() {
  static std::map<std::string, Preset> all;  // inside a function: static initializers of any file may use it
  return all;
}

}  // namespace

Preset::Entry::Entry(const std::string& name, Preset preset) {
  const bool fresh = presets().emplace(name, std::move(preset)).second;
  check(fresh, "preset: got two presets of the same name, ", name);
}

std::vector<std::string> preset_names() {
  std::vector<std::string> all;
  for (const auto& [name, preset] : presets()) all.push_back(name);
  return all;
}

const Preset& find_preset(const std::string& name) {
  const auto found = presets().find(name);
  check(found != presets().end(), "preset: unknown preset '", name, "'", suggestion(name, preset_names()),
        "; known: ", joined(preset_names()));
  return found->second;
}

std::shared_ptr<Structure> preset(const std::string& name, StructureOptions options) {
  const Preset& says = find_preset(name);
  if (options.mechanism.empty()) options.mechanism = says.mechanisms.front();
  return structure(says.structure, options);
}

StructureInput random_inputs(const Structure& structure, int64_t batch, int64_t length) {
  const StructureSignature takes = structure.takes();
  const auto own = structure.parameters();
  const auto like = own.empty() ? at::TensorOptions() : own[0].options().requires_grad(false);
  StructureInput given;
  for (size_t i = 0; i < takes.features.size(); ++i) {
    std::vector<int64_t> shape{batch};
    for (int64_t level = 0; level < takes.depth; ++level) shape.push_back(length);
    shape.push_back(structure.width_of(i));
    given.features.push_back({at::randn(shape, like), {}});
  }
  if (takes.query) given.query = at::randn({batch, 1, structure.width_of_query()}, like);
  if (takes.edges) given.edges = at::randint(length, {2, 3 * length}, at::kLong);
  return given;
}

}  // namespace heed
