// Learning-rate schedules, made from specs: a factor on train.lr for each step.
//
//   constant   inverse_sqrt(warmup_steps=4000)   cosine(500)   linear(500, total=20000)   plateau(0.5, patience=3)
//
// Steps count from 1, the first update. Every schedule warms up linearly, step / warmup_steps, to 1 at the end of the
// warm-up. The factor depends on the step alone, except for plateau, which also depends on the validation metrics and
// has a state in the checkpoint.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "heed/base/catalogue.h"
#include "heed/train/early_stopping.h"

namespace heed {

/// Properties of the run that a schedule uses.
struct ScheduleOptions {
  int64_t steps = 0;              // updates of the whole run; 0: unknown
  Better better = Better::lower;  // of the validation metric
};

class Schedule {
 public:
  static constexpr const char* kKind = "schedule";
  using Parts = Catalogue<Schedule, ScheduleOptions>;

  /// Makes a schedule from a spec such as "cosine(500)"; an invalid spec is an Error.
  static std::shared_ptr<Schedule> make(const std::string& spec, const ScheduleOptions& run);

  virtual ~Schedule() = default;

  /// Factor on the learning rate at this update; step >= 1.
  double factor(int64_t step) const;

  /// Called with the metric of each validation.
  virtual void validated(double /*metric*/) {}
  /// State for a checkpoint; {} unless the schedule depends on validations.
  virtual nlohmann::json state() const;
  virtual void restore(const nlohmann::json&) {}

 protected:
  /// Reads the option warmup_steps. The order of these calls defines the order of positional options.
  void read_warmup(const Options& options, int64_t default_value);
  int64_t warmup() const { return warmup_; }

 private:
  /// The factor at a step after the warm-up.
  virtual double after_warmup(int64_t step) const = 0;

  int64_t warmup_ = 0;
};

}  // namespace heed
