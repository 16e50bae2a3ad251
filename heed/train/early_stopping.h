// Early stopping: enough validations in a row without a new best.

#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace heed {

enum class Better { lower, higher };

class EarlyStopping {
 public:
  /// patience: validations without a new best after which to stop; 0 never stops.
  EarlyStopping(int64_t patience, Better better);

  /// Takes the metric of a validation; true when it is a new best. Equal is not better, and NaN never is.
  bool validated(double metric);
  bool exhausted() const { return patience_ > 0 && waited_ >= patience_; }
  /// Waits anew; the best stays.
  void wait_again() { waited_ = 0; }

  bool has_best() const { return has_best_; }
  double best() const { return best_; }
  int64_t waited() const { return waited_; }

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  int64_t patience_;
  Better better_;
  bool has_best_ = false;
  double best_ = 0;
  int64_t waited_ = 0;
};

}  // namespace heed
