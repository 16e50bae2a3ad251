#include "apps/cli/eval_metric/image_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/file.h"
#include "heed/metrics/text.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

/// One argument: the images that it stands for.
struct ImageSource {
  enum class Kind { image, folder, list } kind;
  std::vector<std::string> paths;
};

std::vector<std::string> images_in(const std::string& folder) {
  std::vector<std::string> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_called_picture(entry.path().string())) all.push_back(entry.path().string());
  check(!error, "eval: ", folder, " cannot be read: ", error.message());
  check(!all.empty(), "eval: ", folder, ": got no PNG or PGM file, expected images in the folder");
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> images_listed(const std::string& list, FileReader& reader) {
  const std::string folder = fs::path(list).parent_path().string();
  const auto lines = reader.lines(list, "the path of an image");
  std::vector<std::string> all;
  for (size_t i = 0; i < lines.size(); ++i) {
    check_plain(list, i, lines[i]);
    const std::string path(without_outer_whitespace(lines[i]));
    check(!path.empty(), at_line(list, i), "got an empty line, expected the path of an image; remove it");
    all.push_back(below_folder(folder, path));
    check(exists(all.back()) && !is_folder(all.back()), at_line(list, i), "got '", excerpt(path),
          "', expected an image; there is no file ", excerpt(all.back()));
  }
  return all;
}

/// Whether the file begins as a picture does.
bool holds_picture(const std::string& path) {
  constexpr size_t kBegin = 8;
  std::string begin(kBegin, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  return begins_as_picture(begin);
}

ImageSource image_source(const std::string& argument, FileReader& reader) {
  check(exists(argument), "eval: ", argument,
        ": got no file of that name, expected an image, a folder or a list of images");
  if (is_folder(argument)) return {ImageSource::Kind::folder, images_in(argument)};
  if (is_called_picture(argument) || holds_picture(argument)) return {ImageSource::Kind::image, {argument}};
  return {ImageSource::Kind::list, images_listed(argument, reader)};
}

/// What several arguments stand for: images are one set; folders and lists a set each.
std::vector<ImageSource> image_sources(const std::vector<std::string>& arguments, FileReader& reader) {
  std::vector<ImageSource> all;
  for (const auto& argument : arguments) {
    ImageSource one = image_source(argument, reader);
    const bool continues = !all.empty() && one.kind == ImageSource::Kind::image;
    check(all.empty() || continues == (all[0].kind == ImageSource::Kind::image), "eval: got ", arguments[0], " and ",
          argument, ", expected images alone, or folders and lists alone, one for each system");
    if (continues) {
      all[0].paths.push_back(argument);
    } else {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<std::string> stems_of(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  all.reserve(paths.size());
  for (const auto& path : paths) all.push_back(fs::path(path).stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

/// Two folders have images of the same names; the first that has no partner is named.
void check_same_names(const std::string& folder, const ImageSource& system, const std::string& gold_folder,
                      const ImageSource& gold) {
  const auto ours = stems_of(system.paths), theirs = stems_of(gold.paths);
  const auto partner = [](const std::vector<std::string>& have, const std::vector<std::string>& want,
                          const std::string& lacks, const std::string& has) {
    for (size_t i = 0; i < want.size(); ++i) {
      check(i == 0 || want[i] != want[i - 1], "eval: ", has, ": got two images called ", want[i],
            ", expected each name once");
      check(std::binary_search(have.begin(), have.end(), want[i]), "eval: ", lacks, " has no image called ", want[i],
            ", expected one for each of ", has, "; images of two folders belong together by name");
    }
  };
  partner(ours, theirs, folder, gold_folder);
  partner(theirs, ours, gold_folder, folder);
}

std::string image_size(const Pixels& pixels) {
  return std::to_string(pixels.width) + " x " + std::to_string(pixels.height) + " pixels and " +
         std::to_string(pixels.channels) + (pixels.channels == 1 ? " channel" : " channels");
}

}  // namespace

ImageSets::ImageSets(const FileMetricOptions& options, FileReader& reader) : reader_(reader) {
  check(!options.references.empty(), "eval: images in ", options.hypotheses.front(),
        " without references, expected an image, a folder or a list of them");
  auto gold = image_sources(options.references, reader);
  auto systems = image_sources(options.hypotheses, reader);
  check_one_reference("images", gold.size());
  using Kind = ImageSource::Kind;
  for (size_t i = 0; i < systems.size(); ++i) {
    check(systems[i].paths.size() == gold[0].paths.size(), "eval: got ", systems[i].paths.size(), " images in ",
          options.hypotheses[i], " and ", gold[0].paths.size(), " in ", options.references[0],
          ", expected equal numbers; systems to compare are folders or lists");
    if (systems[i].kind == Kind::folder && gold[0].kind == Kind::folder)
      check_same_names(options.hypotheses[i], systems[i], options.references[0], gold[0]);
    system_sets_.push_back(systems[i].kind == Kind::image ? "" : options.hypotheses[i]);
    systems_.push_back(std::move(systems[i].paths));
  }
  if (gold[0].kind != Kind::image) gold_set_ = options.references[0];
  gold_ = std::move(gold[0].paths);
}

void ImageSets::each_pair(size_t system, PixelMeaning meaning, const Pair& use) const {
  for (size_t i = 0; i < gold_.size(); ++i) {
    const std::string &path = systems_[system][i], &gold_path = gold_[i];
    const auto read = [&](const std::string& from, const std::string& set) {
      return read_pixels(from, reader_.bytes(from, set.empty() ? from : set), meaning);
    };
    const Pixels image = read(path, system_sets_[system]), reference = read(gold_path, gold_set_);
    check(image.width == reference.width && image.height == reference.height && image.channels == reference.channels,
          "eval: ", path, ": got ", image_size(image), ", expected those of ", gold_path, ", ", image_size(reference));
    use(image, reference, path);
  }
}

}  // namespace heed::cli
