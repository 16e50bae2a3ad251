// Parameters by name, and the declarations by which a part describes them.
//
// A mechanism names them score.* and align.*; a part uses the bare names. A parameter has the declared shape, or that
// shape with a leading axis H: one set for each head.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "heed/base/check.h"

namespace heed {

using at::Tensor;

/// Number W of scores for each pair of query and key: one, or one for each channel of the values.
enum class Dimensionality {
  single,       // W = 1
  multi,        // W = Dv, through a hidden layer: e = W_d act(...)         (Shen et al., 2018, source2token)
  elementwise,  // W = Dv, the hidden layer is the score: e = 5 act(.../5)  (Shen et al., 2018, token2token)
  lift,         // W = Dv, the score once for each channel: on a group of features, or with its own weight matrix
};
std::string to_string(Dimensionality dimensionality);  // "single", "multi", "multi(elementwise)", "multi(lift)"

struct Sizes {
  static constexpr int64_t kAny = -1;  // not known yet: matches any size, the same one in all shapes

  int64_t query_dim = 0, key_dim = 0, value_dim = 0, hidden_dim = 0;  // Dq, Dk, Dv, Dh
  Dimensionality dimensionality = Dimensionality::single;

  /// W: scores for each pair.
  int64_t width() const { return dimensionality == Dimensionality::single ? 1 : value_dim; }
  bool operator==(const Sizes&) const = default;
};

/// Initialization of a parameter.
struct Initial {
  enum Kind { glorot, constant } kind = glorot;  // glorot: uniform, fans from the last two axes
  double value = 0;                              // of constant
};
inline constexpr Initial kZeros{Initial::constant, 0};
inline constexpr Initial kOnes{Initial::constant, 1};

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
  Initial initial = {};
};

class Parameters {
 public:
  Parameters() = default;
  Parameters(std::initializer_list<std::pair<const std::string, Tensor>> given);
  explicit Parameters(const std::map<std::string, Tensor>& given);

  /// The tensor of that name; throws Error if there is none.
  const Tensor& operator[](std::string_view name) const;
  /// The tensor of that name, or an undefined one.
  Tensor get(std::string_view name) const;
  void set(std::string_view name, const Tensor& tensor);

  /// Those whose names begin with "part.", by their bare names. Shares the storage: no name or tensor is copied.
  Parameters of(std::string_view part) const;

  /// A scalar or vector parameter, shaped to broadcast over a tensor whose second axis is the heads:
  /// [n] -> [n], [H, n] -> [H, 1, ..., 1, n] with `between` axes of size 1.
  Tensor spread(std::string_view name, int64_t between) const;

  /// The sizes of the call these are used in.
  const Sizes& sizes() const { return sizes_; }
  void set_sizes(const Sizes& sizes) { sizes_ = sizes; }

  // As a list, for autograd: the tensors in the order of their names, and the same names with other tensors, which
  // begin at tensors[first].
  std::vector<Tensor> values() const;
  Parameters with_values(const std::vector<Tensor>& tensors, size_t first) const;

  /// The names and sizes, with undefined tensors.
  Parameters without_tensors() const;

  size_t size() const { return count_; }

  /// Iterates over pairs of name and tensor, in the order of the names.
  class Iterator {
   public:
    Iterator(const Parameters& all, size_t index) : all_(&all), index_(index) {}
    std::pair<std::string, Tensor> operator*() const { return {std::string(all_->name(index_)), all_->at(index_)}; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Parameters* all_;
    size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count_}; }

  std::string_view name(size_t index) const { return std::string_view((*names_)[first_ + index]).substr(skip_); }
  const Tensor& at(size_t index) const { return (*tensors_)[first_ + index]; }

 private:
  size_t find(std::string_view name) const;  // count_ if there is none

  // Names are sorted, so the parameters of a part are a range [first_, first_ + count_) of all. Copies share both
  // lists; set() replaces them.
  std::shared_ptr<const std::vector<std::string>> names_;
  std::shared_ptr<const std::vector<Tensor>> tensors_;
  size_t first_ = 0, count_ = 0;
  size_t skip_ = 0;  // length of the prefix that name() leaves out
  Sizes sizes_;
};

/// x [B, H, ..., in] times weight [out, in] or [H, out, in], plus bias [out] or [H, out] if defined.
Tensor project(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// A shape in a message: "[2, 3, 6]", or "undefined". Written when it is streamed, so that a check that passes builds
/// no text. For one expression: it refers to the tensor.
struct ShapeText {
  const Tensor& tensor;
};
std::ostream& operator<<(std::ostream& out, const ShapeText& shape);
inline ShapeText shape_of(const Tensor& tensor) {
  return {tensor};
}

/// Checks that a tensor, if defined, has the type and device of the query.
void check_like(std::string_view what, const Tensor& tensor, const Tensor& query);

/// Checks that `given` has exactly the declared parameters, with the declared shapes (or those with a leading axis
/// `heads`), and the type and device of `like`. A declared size kAny is read from the tensors and returned; kAny is
/// returned if none is declared.
int64_t check_parameters(const std::string& part, const std::vector<ParameterSpec>& declared, const Parameters& given,
                         int64_t heads, const Tensor& like);

}  // namespace heed
