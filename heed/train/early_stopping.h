// Early stopping after a number of consecutive validations without a new best.

#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace heed {

/// Which values of a metric are better.
enum class Better { lower, higher };

class EarlyStopping {
 public:
  /// patience: consecutive validations without a new best before stopping; 0: never stops.
  EarlyStopping(int64_t patience, Better better);

  /// Records the metric of a validation; returns whether it is a new best. Equal or non-finite values are not.
  bool validated(double metric);
  /// Whether to stop.
  bool exhausted() const { return patience_ > 0 && waited_ >= patience_; }
  /// Resets the count of validations without a new best; keeps the best.
  void wait_again() { waited_ = 0; }

  bool has_best() const { return has_best_; }
  double best() const { return best_; }
  /// Consecutive validations without a new best.
  int64_t waited() const { return waited_; }

  /// For checkpoints: {"best": 1.5, "waited": 0}. restore() throws an Error on any other form.
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
