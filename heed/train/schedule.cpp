#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {

std::shared_ptr<Schedule> Schedule::make(const std::string& spec, const ScheduleOptions& run) {
  auto schedule = Parts::make(spec, run);
  schedule->factor(schedule->warmup() + 1);  // reports a missing total now, not after the warm-up
  return schedule;
}

void Schedule::read_warmup(const Options& options, int64_t default_value) {
  warmup_ = options.integer("warmup_steps", default_value);
  check(warmup_ >= 0, options.part(), ": warmup_steps is ", warmup_, ", expected 0 steps or more");
}

double Schedule::factor(int64_t step) const {
  check(step >= 1, "schedule: step is ", step, ", expected 1 for the first update");
  if (step <= warmup_) return static_cast<double>(step) / static_cast<double>(warmup_);
  return after_warmup(step);
}

nlohmann::json Schedule::state() const {
  return nlohmann::json::object();
}

namespace {

template <typename Kind>
std::shared_ptr<Schedule> make_schedule(const Options& options, const ScheduleOptions& run) {
  return std::make_shared<Kind>(options, run);
}

class Constant final : public Schedule {
 public:
  Constant(const Options& options, const ScheduleOptions&) { read_warmup(options, 0); }

 private:
  double after_warmup(int64_t) const override { return 1; }
};

// sqrt(warmup / step). The schedule of Vaswani et al., 2017 is this factor with the learning rate (d warmup)^-0.5.
class InverseSqrt final : public Schedule {
 public:
  InverseSqrt(const Options& options, const ScheduleOptions&) {
    read_warmup(options, 4000);
    check(warmup() >= 1, options.part(), ": warmup_steps is ", warmup(), ", expected 1 step or more");
  }

 private:
  double after_warmup(int64_t step) const override {
    return std::sqrt(static_cast<double>(warmup()) / static_cast<double>(step));
  }
};

/// Falls from 1 at the end of the warm-up to `floor` at step `total`, then stays at `floor`.
class Decay : public Schedule {
 public:
  Decay(const Options& options, const ScheduleOptions& run) : asked_(options.part()) {
    read_warmup(options, 0);
    total_ = options.integer("total", run.steps);
    floor_ = options.number("floor", 0);
    check(total_ >= 0, asked_, ": total is ", total_, ", expected the steps of the run");
    check(0 <= floor_ && floor_ <= 1, asked_, ": floor is ", floor_, ", expected 0 <= floor <= 1");
    check(total_ == 0 || total_ > warmup(), asked_, ": total is ", total_,
          ", expected more than warmup_steps = ", warmup(), "; lower warmup_steps, or train for more steps");
  }

 private:
  virtual double left(double done) const = 0;  // from 1 to 0 while done goes from 0 to 1

  double after_warmup(int64_t step) const override {
    check(total_ > 0, asked_, ": the run has no last step, expected ", asked_.substr(asked_.find('/') + 1),
          "(total=20000) or a number of epochs");
    const double done = static_cast<double>(step - warmup()) / static_cast<double>(total_ - warmup());
    return floor_ + (1 - floor_) * left(std::min(done, 1.0));
  }

  std::string asked_;
  int64_t total_ = 0;
  double floor_ = 0;
};

class Cosine final : public Decay {
 public:
  using Decay::Decay;

 private:
  double left(double done) const override { return (1 + std::cos(std::numbers::pi * done)) / 2; }
};

class Linear final : public Decay {
 public:
  using Decay::Decay;

 private:
  double left(double done) const override { return 1 - done; }
};

class Plateau final : public Schedule {
 public:
  Plateau(const Options& options, const ScheduleOptions& run)
      : by_(options.number("factor", 0.5)),
        waiting_(read_patience(options), run.better),
        floor_(options.number("floor", 0)) {
    read_warmup(options, 0);
    check(0 < by_ && by_ < 1, options.part(), ": factor is ", by_, ", expected 0 < factor < 1");
    check(0 <= floor_ && floor_ <= 1, options.part(), ": floor is ", floor_, ", expected 0 <= floor <= 1");
  }

  void validated(double metric) override {
    waiting_.validated(metric);
    if (!waiting_.exhausted()) return;
    now_ = std::max(now_ * by_, floor_);
    waiting_.wait_again();
  }

  nlohmann::json state() const override { return {{"factor", now_}, {"waiting", waiting_.state()}}; }
  void restore(const nlohmann::json& state) override {
    const bool fine =
        state.is_object() && state.contains("waiting") && state.contains("factor") && state["factor"].is_number();
    check(fine, "schedule/plateau: the saved state is ", state.dump(), R"(, expected {"factor": 0.5, "waiting": {}})");
    waiting_.restore(state["waiting"]);
    now_ = state["factor"].get<double>();
  }

 private:
  static int64_t read_patience(const Options& options) {
    const int64_t patience = options.integer("patience", 2);
    check(patience >= 1, options.part(), ": patience is ", patience, ", expected at least 1 validation");
    return patience;
  }

  double after_warmup(int64_t) const override { return now_; }

  double by_, now_ = 1;
  EarlyStopping waiting_;
  double floor_;
};

const Schedule::Parts::Entry constant_entry{"constant",
                                            make_schedule<Constant>,
                                            {.formula = "1",
                                             .paper = "",
                                             .cost = "",
                                             .choose = "short runs, and optimizers that find their own step",
                                             .variants = {"constant(warmup_steps=100)"},
                                             .order = 3}};
const Schedule::Parts::Entry inverse_sqrt_entry{"inverse_sqrt",
                                                make_schedule<InverseSqrt>,
                                                {.formula = "min(step / warmup, sqrt(warmup / step))",
                                                 .paper = "Vaswani et al., 2017",
                                                 .cost = "",
                                                 .choose = "Transformers, when the end of the run is open",
                                                 .variants = {"inverse_sqrt(400)"},
                                                 .synonyms = {"noam"},
                                                 .order = 2}};
const Schedule::Parts::Entry cosine_entry{"cosine",
                                          make_schedule<Cosine>,
                                          {.formula = "floor + (1 - floor) (1 + cos(pi done)) / 2",
                                           .paper = "Loshchilov & Hutter, 2017",
                                           .cost = "",
                                           .choose = "the length of the run is fixed beforehand",
                                           .variants = {"cosine(100, total=1000, floor=0.1)"},
                                           .order = 1}};
const Schedule::Parts::Entry linear_entry{"linear",
                                          make_schedule<Linear>,
                                          {.formula = "floor + (1 - floor) (1 - done)",
                                           .paper = "",
                                           .cost = "",
                                           .choose = "fine-tuning over a fixed number of steps",
                                           .variants = {"linear(100, total=1000)"},
                                           .order = 5}};
const Schedule::Parts::Entry plateau_entry{"plateau",
                                           make_schedule<Plateau>,
                                           {.formula = "factor^k, k = times that patience validations brought no best",
                                            .paper = "",
                                            .cost = "",
                                            .choose = "recurrent models, with frequent validations",
                                            .variants = {"plateau(0.7, patience=5)"},
                                            .order = 4}};

}  // namespace
}  // namespace heed
