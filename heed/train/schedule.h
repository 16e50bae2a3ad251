// Learning-rate schedules by words: a factor on train.lr for each step.
//
//   constant   inverse_sqrt(warmup=4000)   cosine(500)   linear(500, total=20000)   plateau(0.5, patience=3)
//
// Steps count from 1, the first update. Every schedule warms up on a straight line, step / warmup, and stands at 1
// when the warm-up is over. The factor depends on the step alone, but for plateau, which also hears of validations and
// whose state goes into the checkpoint.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "heed/base/catalogue.h"
#include "heed/train/early_stopping.h"

namespace heed {

/// What a schedule knows of the run.
struct ScheduleOf {
  int64_t steps = 0;  // updates of the whole run; 0: not known
  Better better = Better::lower;
};

class Schedule {
 public:
  static constexpr const char* kKind = "schedule";
  using Parts = Catalogue<Schedule, ScheduleOf>;

  /// "cosine(500)"
  static std::shared_ptr<Schedule> make(const std::string& spec, const ScheduleOf& run);

  virtual ~Schedule() = default;

  /// What to multiply the learning rate with at this update.
  double factor(int64_t step) const;

  /// Takes the metric of a validation.
  virtual void validated(double /*metric*/) {}
  virtual nlohmann::json state() const;
  virtual void restore(const nlohmann::json&) {}

 protected:
  /// Reads the option warmup. Called where its turn is among the options, so that bare numbers find their names.
  void read_warmup(const Options& options, int64_t default_value);
  int64_t warmup() const { return warmup_; }

 private:
  /// The factor at a step after the warm-up.
  virtual double after_warmup(int64_t step) const = 0;

  int64_t warmup_ = 0;
};

}  // namespace heed
