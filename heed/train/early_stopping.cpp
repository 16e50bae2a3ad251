#include "heed/train/early_stopping.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {

EarlyStopping::EarlyStopping(int64_t patience, Better better) : patience_(patience), better_(better) {
  check(patience >= 0, "train/early_stopping: patience is ", patience, ", expected 0 (never stop) or more");
}

bool EarlyStopping::validated(double metric) {
  const bool ahead = better_ == Better::lower ? metric < best_ : metric > best_;
  const bool improved = std::isfinite(metric) && (!has_best_ || ahead);
  if (improved) {
    has_best_ = true;
    best_ = metric;
    waited_ = 0;
  } else {
    ++waited_;
  }
  return improved;
}

nlohmann::json EarlyStopping::state() const {
  nlohmann::json best;  // null: no best yet
  if (has_best_) best = best_;
  return {{"best", best}, {"waited", waited_}};
}

void EarlyStopping::restore(const nlohmann::json& state) {
  const bool fine = state.is_object() && state.contains("best") && state.contains("waited") &&
                    (state["best"].is_null() || state["best"].is_number()) && state["waited"].is_number_integer();
  check(fine, "train/early_stopping: the saved state is ", state.dump(), R"(, expected {"best": 1.5, "waited": 0})");
  has_best_ = !state["best"].is_null();
  best_ = has_best_ ? state["best"].get<double>() : 0;
  waited_ = state["waited"].get<int64_t>();
}

}  // namespace heed
