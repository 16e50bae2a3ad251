// The catalogue of definitions. A definition is a class template over Real in score/<name>.cpp or align/<name>.cpp; one
// entry makes it for both types of numbers:
//
//   extern const ScoreDefinitions::Entry dot_score{"dot", define<Dot>, {}};
//   extern const AlignDefinitions::Entry top_k_alignment{"top_k", define<TopK>, {.variants = {"top_k(2)"}}};
//
// A linker takes only those files of a static library that something refers to, so an entry has external linkage and
// the name of its file, <name>_score or <name>_alignment: the build generates definitions.cpp, which refers to each.

#pragma once

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>

#include "heed/base/catalogue.h"

namespace heed::kernels::reference {

/// A part for both types of numbers.
template <template <typename> class Part>
struct Definition {
  static constexpr const char* kKind = Part<double>::kKind;
  std::shared_ptr<const Part<double>> real;
  std::shared_ptr<const Part<std::complex<double>>> complex;
};

/// Makes a definition of class Kind; Made and With follow from the entry that it is given to.
template <template <typename> class Kind, typename Made, typename... With>
std::shared_ptr<Made> define(const Options& options, const With&... with) {
  const Options again = options.unread();  // each constructor reads all options
  return std::make_shared<Made>(Made{std::make_shared<const Kind<double>>(options, with...),
                                     std::make_shared<const Kind<std::complex<double>>>(again, with...)});
}

/// In the generated file. Does nothing: a call of it is what refers to that file.
void link_definitions();

/// The names of the definitions of one kind.
template <template <typename> class Part, typename... With>
std::vector<std::string> definition_names() {
  link_definitions();
  return Catalogue<Definition<Part>, With...>::names();
}

/// The definition of a spec; nullptr if there is none of that name. Throws heed::Error for unknown options.
template <typename Real, template <typename> class Part, typename... With>
std::shared_ptr<const Part<Real>> make_definition(const PartSpec& spec, const With&... with) {
  const auto names = definition_names<Part, With...>();
  if (std::find(names.begin(), names.end(), spec.name) == names.end()) return nullptr;
  const auto made = Catalogue<Definition<Part>, With...>::make(spec, with...);
  if constexpr (std::is_same_v<Real, double>)
    return made->real;
  else
    return made->complex;
}

}  // namespace heed::kernels::reference
