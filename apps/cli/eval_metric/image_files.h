// Images of one or several systems against references. --hypothesis and --reference are each
//
//   images    a.png b.png: the images of one system
//   a folder  its PNG and PGM files, sorted by name; two folders have the same names, apart from .png and .pgm
//   a list    a text file with the path of an image on each line, relative to the folder of the list
//
// Several systems are several folders or lists. Images are read when they are asked for: a set may be larger than the
// memory.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"
#include "apps/cli/image/pixels.h"

namespace heed::cli {

class ImageSets {
 public:
  ImageSets(const FileMetricOptions& options, FileReader& reader);

  size_t systems() const { return systems_.size(); }
  size_t images() const { return gold_.size(); }

  /// Reads every pair of an image of the system and its reference, of the same size.
  using Pair = std::function<void(const Pixels& image, const Pixels& reference, const std::string& path)>;
  void each_pair(size_t system, PixelMeaning meaning, const Pair& use) const;

 private:
  FileReader& reader_;
  std::vector<std::string> gold_;
  std::vector<std::vector<std::string>> systems_;
  std::string gold_set_;                  // the folder or list, empty for images; for the origin of figures
  std::vector<std::string> system_sets_;  // the same of each system
};

}  // namespace heed::cli
