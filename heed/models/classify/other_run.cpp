#include "heed/models/classify/other_run.h"

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/saved_model.h"

namespace heed {
namespace {

std::string how_read(const TextReader& reader) {
  return reader.json().dump() + (reader.documents ? " as documents" : "");
}

}  // namespace

Classifier load_other_run(const Settings& section, const std::string& run, const TextReader& own,
                          const LabelSet& labels, at::Device device) {
  const auto loaded = [&] {
    try {
      return Classifier::load(run, device);
    } catch (const Error& error) {
      section.refuse("run", "is '", run, "', which cannot be loaded: ", error.what(),
                     "; expected the folder of a classifier that heed train has finished");
    }
  };
  Classifier other = loaded();
  const auto refuse = [&](const auto&... parts) {
    section.refuse("run", "is '", run, "', ", parts..., "; train that run again with the data keys of this recipe");
  };
  if (other.reader().tokenizer->json() != own.tokenizer->json())
    refuse("whose tokenizer is another one, with ", other.reader().tokenizer->size(), " pieces, expected the ",
           own.tokenizer->size(), " of this run");
  TextReader expected = own;  // what was split and lowercased before it was read
  expected.sentences = other.reader().sentences;
  expected.lowercase = other.reader().lowercase;
  if (how_read(other.reader()) != how_read(expected))
    refuse("which reads texts as ", how_read(other.reader()), ", expected ", how_read(expected));
  if (other.labels().form != labels.form)
    refuse("whose labels are ", to_string(other.labels().form), ", expected ", to_string(labels.form));
  if (other.labels().names != labels.names)
    refuse("whose classes are ", joined(other.labels().names), ", expected ", joined(labels.names));
  return other;
}

std::string other_run_md5(const std::string& run) {
  return file_md5(run + "/model.safetensors");
}

}  // namespace heed
