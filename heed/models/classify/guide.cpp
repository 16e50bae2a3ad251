#include "heed/models/classify/guide.h"

#include <ATen/ATen.h>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr const char* kGuideKey = "train.guide";

const RecipeTable<GuideOptions> guide_keys{
    {"run",
     &GuideOptions::run,
     "folder of a run with the same data whose attention weights are imposed on this model, in training and afterwards "
     "(Wiegreffe & Pinter, 2019); the saved model contains that run's",
     {.default_text = "none"}}};

const RecipeSection::Entry guide_section{
    {"train.guide", 143, "Attention weights of another run.", [] { return guide_keys.list(); }, "classify"}};

}  // namespace

GuideOptions read_guide(const Settings& train) {
  return guide_keys.read(train.at("guide"));
}

Guide::Guide(std::shared_ptr<ClassificationModel> guide, ClassificationModel& guided)
    : guide_(std::move(guide)), from_(*guide_, kGuideKey), to_(guided, kGuideKey) {
  check(guide_->reads_documents() == guided.reads_documents(), "recipe: ", kGuideKey, " is a model that ",
        guide_->reads_documents() ? "reads" : "does not read", " documents, expected one like ",
        guided.attention().to_string());
  for (auto& parameter : guide_->parameters()) parameter.requires_grad_(false);
  guide_->eval();
}

Tensor Guide::weights(const TextBatch& batch) const {
  const at::NoGradGuard no_grad;
  return from_.weights(guide_->pool(batch, {}, TokenAttention::outputs()), batch);
}

}  // namespace heed
