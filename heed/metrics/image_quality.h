// Quality of images against references: MSE, PSNR and SSIM (Wang et al., 2004), equal to scikit-image's in double
// precision.
//
//   MSE = mean (x - y)^2,   PSNR = 10 log10(R^2 / MSE), infinite for equal images
//   SSIM = mean over the positions where the window fits, and over channels, of
//     (2 mx my + C1) (2 sxy + C2) / ((mx^2 + my^2 + C1) (sx^2 + sy^2 + C2)),   C1 = (.01 R)^2,   C2 = (.03 R)^2
//
// R: the data range, 255 for 8 bits; it is never guessed. m, s^2, sxy: weighted means, variances and covariance in a
// window. Settings differ between programs, so they have names:
//
//   wang     the paper's: Gaussian of sigma 1.5 cut at 11 taps, variances divided by the weights
//            skimage: gaussian_weights=True, sigma=1.5, use_sample_covariance=False
//   uniform  skimage's default: 7 x 7 equal weights, variances divided by N - 1 = 48

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// Planes of channels: values[(c * height + y) * width + x].
struct Image {
  int64_t channels = 1, height = 0, width = 0;
  std::vector<double> values;
};

enum class SsimWindow { wang, uniform };
/// Accepts "wang", "uniform"; any other name is an Error.
SsimWindow parse_ssim_window(const std::string& word);
/// Taps on a side: 11, 7. A smaller image is an Error.
int64_t ssim_window_size(SsimWindow window);

// image, reference: of the same shape, finite. data_range: positive, finite.

double mean_squared_error(const Image& image, const Image& reference);
double psnr(const Image& image, const Image& reference, double data_range);
double ssim(const Image& image, const Image& reference, double data_range, SsimWindow window = SsimWindow::wang);

/// Mean over images. Equal images, whose PSNR is infinite, are counted and left out; infinite if all are equal.
struct MeanPsnr {
  double mean = 0;
  int64_t images = 0, equal = 0;
};
MeanPsnr mean_psnr(const std::vector<double>& values);

}  // namespace heed
