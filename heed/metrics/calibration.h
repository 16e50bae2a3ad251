// Calibration: whether predictions of confidence p are right in a share p of the cases (Naeini et al., 2015; Guo et
// al., 2017), and the Brier score (Brier, 1950).
//
//   bin b = 1 ... M holds the confidences in ((b - 1) / M, b / M]; 0 belongs to the first. Bounds are rounded to
//   double.
//
//   expected calibration error = sum_b n_b / n |accuracy_b - confidence_b|
//   maximum calibration error = max_b |accuracy_b - confidence_b| over the bins that are not empty
//   Brier score = 1/n sum_i sum_c (p_ic - y_ic)^2,   y_ic = 1 if c is the gold class of example i, else 0;   0 to 2

#pragma once

#include <cstdint>
#include <vector>

namespace heed {

struct CalibrationBin {
  double min = 0, max = 0;  // min < confidence <= max
  int64_t count = 0;
  double confidence = 0, accuracy = 0;  // means; 0 if the bin is empty
};

struct Calibration {
  double expected_error = 0, max_error = 0;
  std::vector<CalibrationBin> bins;  // ascending, empty ones included
};

inline constexpr int64_t kCalibrationBins = 15;

/// confidence: the probability given to the predicted class, 0 to 1; correct: whether it is the gold class.
Calibration calibration(const std::vector<double>& confidence, const std::vector<bool>& correct,
                        int64_t bins = kCalibrationBins);

/// probabilities: [n][classes], each 0 to 1; that a row sums to 1 is not checked. gold: 0 <= id < classes.
double brier_score(const std::vector<std::vector<double>>& probabilities, const std::vector<int64_t>& gold);

}  // namespace heed
