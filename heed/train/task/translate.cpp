// Translation: trains a translator on parallel text. Metrics: BLEU, chrF, TER, perplexity and, with gold links,
// alignment error rate.
//
//   data    the corpus (data/corpus.h); tokenizer, joint
//   model   embedding, features, query, attention, output (models/translate/model.h)
//   train   batch_tokens (tokens of the larger side, including padding), label_smoothing, supervision
//   eval    tokenize, beam, length_penalty, length_normalization, monitor

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/md5.h"
#include "heed/base/recipe_keys.h"
#include "heed/data/batches.h"
#include "heed/data/corpus.h"
#include "heed/data/file.h"
#include "heed/data/max_tokens.h"
#include "heed/data/pair_links.h"
#include "heed/data/saved_model.h"
#include "heed/data/setting_json.h"
#include "heed/metrics/alignment_error.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/by_length.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/perplexity.h"
#include "heed/metrics/ter.h"
#include "heed/models/translate/attention_path.h"
#include "heed/models/translate/pair_batch.h"
#include "heed/models/translate/reward.h"
#include "heed/models/translate/supervision.h"
#include "heed/models/translate/translator.h"
#include "heed/torch_support/noise_scope.h"
#include "heed/train/same_model.h"
#include "heed/train/task.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// On a GPU: multiples of the rows and of the lengths of a batch. Larger ones leave fewer shapes and more padding.
constexpr int64_t kRowsOnGpu = 8, kLengthOnGpu = 4;

constexpr const char *kTask = "translate", *kAer = "aer";
constexpr const char* kRaiseLongest = "raise data.max_length";

struct TranslateSettings {
  CorpusOptions corpus;
  std::string source_tokenizer = "bpe(merges=8000)", target_tokenizer = "bpe(merges=8000)";
  bool joint = false;
  int64_t batch_tokens = 2000, eval_batch_tokens = 0;
  double label_smoothing = 0;
  double reward = 0.1, soft_share = 0.5;
  Supervision supervision;
  bool deterministic = true;
  std::string tokenize = "13a", monitor = "bleu";
  int64_t beam = 5;
  double length_penalty = 1;
  std::string length_normalization = "gnmt";

  TranslateOptions greedy() const { return {.batch_tokens = eval_batch_tokens}; }
  TranslateOptions best() const {
    TranslateOptions options = greedy();
    options.search.beam = beam;
    options.search.length_penalty = length_penalty;
    options.search.normalization = heed::length_normalization(length_normalization);
    return options;
  }
};

/// A shorthand: it is expanded to `source` and `target`.
const RecipeKey kBothTokenizers{"both", "text", "none", "",
                                "one spec for both sides; `data.tokenizer: words` is short for it"};

const RecipeTable<TranslateSettings> tokenizer_keys{
    {"source", &TranslateSettings::source_tokenizer,
     "`words(vocabulary, min_count, punctuation)`, `characters(...)`, `bpe(merges=8000)`"},
    {"target", &TranslateSettings::target_tokenizer, "the same for the target"}};

const RecipeTable<TranslateSettings> joint_keys{
    {"joint", &TranslateSettings::joint, "whether both sides have one vocabulary"}};

const RecipeTable<TranslateSettings> loss_keys{
    {"batch_tokens",
     &TranslateSettings::batch_tokens,
     "tokens of the larger side in a batch, padding included",
     {.min = 1, .max = 1 << 24}},
    {"label_smoothing", &TranslateSettings::label_smoothing, "label smoothing", {.min = 0, .max = below(1)}},
    {"reward", &TranslateSettings::reward, "weight of learning by reward, for `hard` and `reinforced`", {.min = 0}},
    {"soft_share",
     &TranslateSettings::soft_share,
     "share of the batches on which `hard` trains with softmax weights (Xu et al., 2015)",
     {.min = 0, .max = 1}},
    {"deterministic", &TranslateSettings::deterministic,
     "on a GPU, whether gradients of attention are the same bits in every run; `false` may be faster"}};

const RecipeTable<TranslateSettings> eval_keys{
    {"tokenize", &TranslateSettings::tokenize, "tokenizer of BLEU", {.choices = {"13a", "none", "zh", "char", "intl"}}},
    {"monitor",
     &TranslateSettings::monitor,
     "figure of the development set that decides which weights are kept",
     {.choices = {"bleu", "loss", kAer}}},
    {"beam", &TranslateSettings::beam, "beams of the search", {.min = 1, .max = 1000}},
    {"length_penalty", &TranslateSettings::length_penalty, "exponent of the length penalty", {.min = 0, .max = 10}},
    {"length_normalization",
     &TranslateSettings::length_normalization,
     "what divides log p: `gnmt` ((5 + n) / 6)^length_penalty, `length` n^length_penalty; n counts the end marker",
     {.choices = length_normalizations()}},
    {"batch_tokens",
     &TranslateSettings::eval_batch_tokens,
     "tokens at once; 0: 4000, and 16000 source tokens in the search on a GPU",
     {.min = 0, .max = 1 << 24}}};

const RecipeSection::Entry translate_data_section{{"data", 11, "", [] { return joint_keys.list(); }, kTask}};
const RecipeSection::Entry tokenizer_section{{"data.tokenizer", 12, "Tokenizers, trained on the training text.",
                                              [] {
                                                return all_keys({{kBothTokenizers}, tokenizer_keys.list()});
                                              },
                                              kTask}};
const RecipeSection::Entry translate_train_section{{"train", 41, "Training.", [] { return loss_keys.list(); }, kTask}};
const RecipeSection::Entry eval_section{
    {"eval", 50, "Validation and evaluation.", [] { return eval_keys.list(); }, kTask}};

TranslateSettings read_settings(const Settings& recipe) {
  const Settings data = recipe.at("data"), tokenizer = data.at("tokenizer", kBothTokenizers.name);
  TranslateSettings s;
  s.corpus = read_corpus_options(data);
  const std::string both = tokenizer.shorthand(kBothTokenizers.name);
  if (!both.empty()) s.source_tokenizer = s.target_tokenizer = both;
  s = tokenizer_keys.read(tokenizer, std::move(s));
  for (const auto& [key, spec] : {std::pair{"source", s.source_tokenizer}, {"target", s.target_tokenizer}}) try {
      Catalogue<TokenizerTrainer>::make(spec);
    } catch (const Error& error) {
      tokenizer.refuse(key, "is '", spec, "': ", error.what());
    }
  s = joint_keys.read(data, std::move(s));
  if (s.joint && s.source_tokenizer != s.target_tokenizer)
    data.refuse("joint", "is true, but the tokenizers are ", s.source_tokenizer, " and ", s.target_tokenizer,
                "; expected the same for both");
  const Settings train = recipe.at("train"), eval = recipe.at("eval");
  s = eval_keys.read(eval, loss_keys.read(train, std::move(s)));
  s.supervision = read_supervision(train, !s.corpus.train_links.empty());
  if (s.supervision.active() && s.corpus.train_links.empty() && !s.corpus.is_grammar())
    train.refuse("supervision", "is given, but data.train_links is missing, expected gold links of the training pairs");
  if (s.monitor == kAer && s.corpus.dev_links.empty() && !s.corpus.is_grammar())
    eval.refuse("monitor", "is aer, but data.dev_links is missing, expected gold links of the development set");
  return s;
}

/// The tokenizers of the run folder, or new ones trained on the training text.
Languages languages_for(const TranslateSettings& s, const TextPairs& train, const TaskEnvironment& environment) {
  Languages languages;
  if (environment.resumed) {
    languages = Languages::load(environment.folder);
  } else if (s.joint) {
    std::vector<std::string> lines = train.source;
    lines.insert(lines.end(), train.target.begin(), train.target.end());
    languages.source = languages.target = train_tokenizer(s.source_tokenizer, lines);
  } else {
    languages.source = train_tokenizer(s.source_tokenizer, train.source);
    languages.target = train_tokenizer(s.target_tokenizer, train.target);
  }
  return languages;  // lowercase and unescape stay off: the corpus is already converted
}

IdPairs encoded_pairs(const Languages& languages, const TextPairs& text) {
  IdPairs ids;
  for (size_t i = 0; i < text.size(); ++i) {
    ids.source.push_back(languages.source->encode(text.source[i]));
    ids.target.push_back(languages.target->encode(text.target[i]));
  }
  return ids;
}

/// Index of the first sentence that is short enough to show; 0 if there is none.
size_t example_of(const std::vector<std::string>& sentences) {
  constexpr size_t kBytes = 100;
  const auto found = std::find_if(sentences.begin(), sentences.end(),
                                  [](const std::string& line) { return !line.empty() && line.size() <= kBytes; });
  return found == sentences.end() ? 0 : static_cast<size_t>(found - sentences.begin());
}

/// Adds a hash for each side of a set, under a name with its file, if any.
void add_hashes(Json& hashes, const std::string& key, const std::vector<std::string>& files, bool swap,
                const TextPairs& text) {
  const auto name = [&](size_t side) {
    const size_t file = swap ? 1 - side : side;
    return key + (side == 0 ? " (source" : " (target") +
           (files.empty() ? ")" : ", " + files[files.size() == 2 ? file : 0] + ")");
  };
  hashes[name(0)] = md5_of_lines(text.source);
  hashes[name(1)] = md5_of_lines(text.target);
}

class Translate final : public Task {
 public:
  Translate(const Settings& recipe, const TaskEnvironment& environment)
      : settings_(read_settings(recipe)),
        seed_(static_cast<uint64_t>(environment.seed)),
        device_(environment.device),
        model_settings_(recipe.at("model")) {
    read_components(model_settings_, settings_.joint);  // errors in the recipe are reported before any file is read
    recipe.refuse_unread();
    draw_as_before();
    corpus_ = read_corpus(settings_.corpus);
    hash_data();
    Languages languages = languages_for(settings_, corpus_.train, environment);
    pairs_ = encoded_pairs(languages, corpus_.train);
    check_longest(recipe.at("data"));
    check_lengths(languages, corpus_.dev);
    check_lengths(languages, corpus_.test);
    batches_ = std::make_unique<Batches>(
        pairs_,
        BatchOptions{.tokens = settings_.batch_tokens, .max_length = settings_.corpus.max_length, .seed = seed_});
    model_ = std::make_shared<TranslationModel>(model_settings_, languages.vocabularies());
    model_->to(device_);
    translator_ = std::make_unique<Translator>(model_, std::move(languages));
    if (environment.resumed) check_same_model(environment.folder, model_settings_);
    reward_ = RewardLoss::for_model(*model_, {.weight = settings_.reward, .soft_share = settings_.soft_share});
    if (settings_.supervision.active())
      supervision_ = std::make_unique<LinkSupervision>(*model_, settings_.supervision, gold_of_tokens());
    if (settings_.monitor == kAer) check_alignment_is_measured(recipe.at("eval"));
  }

  torch::nn::Module& model() override { return *model_; }
  int64_t batches(int64_t epoch) override { return batches_->count(epoch); }

  Loss loss(const Share& share) override { return loss_of_batch(share, batch_of(share).to(device_)); }

  std::shared_ptr<const TaskInput> input(const Share& share) override {
    if (reward_ || supervision_ || share.world > 1) return nullptr;
    auto input = std::make_shared<PairInput>();
    input->batch = batch_of(share);
    input->buffer = input->batch.buffer;
    input->shape = input->batch.source.sizes().vec();
    input->shape.push_back(input->batch.target_in.size(1));
    input->count = input->batch.target_tokens;
    return input->batch.one_shape ? input : nullptr;
  }

  Loss loss(const Share& share, const TaskInput& input, const at::Tensor& buffer) override {
    return loss_of_batch(share, static_cast<const PairInput&>(input).batch.in(buffer));
  }

  void seed(const Share& share, const at::Tensor& cell) override {
    const auto noise = noise_of(share, 0);
    noise->seed_generator(device_);
    noise->fill(cell);
  }

  std::string describe(const Share& share) override {
    std::string text =
        "epoch " + std::to_string(share.epoch + 1) + ", batch " + std::to_string(share.batch + 1) + ", pairs";
    const auto rows = batches_->rows(share.epoch, share.batch);
    for (size_t i = 0; i < std::min<size_t>(rows.size(), 8); ++i) text += " " + std::to_string(rows[i] + 1);
    return text + (rows.size() > 8 ? " ..." : "");
  }

  Figures validate() override {
    const auto [loss, tokens] = loss_of(corpus_.dev);
    Figures figures{{"loss", loss / static_cast<double>(tokens)}, {"perplexity", perplexity(loss, tokens)}};
    if (corpus_.dev.links.size() == corpus_.dev.size() && model_->aligns() &&
        (supervision_ || settings_.monitor == kAer))
      figures.emplace_back(kAer, dev_alignment_error());
    if (settings_.monitor != "bleu") return figures;
    figures.emplace_back("bleu",
                         bleu(texts_of(corpus_.dev, settings_.greedy()), {corpus_.dev.target}, bleu_options()).score);
    return figures;
  }
  /// Otherwise every validation would have the same error, and the first weights would be kept.
  void check_alignment_is_measured(const Settings& eval) const {
    if (!model_->aligns())
      eval.refuse("monitor", "is ", kAer, ", but the model has no attention that makes links; expected bleu or loss");
    const auto& links = corpus_.dev.links;
    if (std::all_of(links.begin(), links.end(), [](const Links& of_pair) { return of_pair.empty(); }))
      eval.refuse("monitor", "is ", kAer,
                  ", but no pair of the development set has a gold link; correct data.dev_links");
  }
  /// BLEU if it is at least 1, otherwise the negative loss: BLEU below 1 is noise. Or the negative alignment error.
  double score(const Figures& figures) const override {
    const auto of = [&](const std::string& wanted) {
      for (const auto& [name, value] : figures)
        if (name == wanted) return value;
      fail("train/translate: got no figure ", wanted, " of the development set, expected it to decide");
    };
    if (settings_.monitor == kAer) return -of(kAer);
    return settings_.monitor == "bleu" && of("bleu") >= 1 ? of("bleu") : -of("loss");
  }
  std::string attention_path() override {
    return described_paths(*model_, collate(pairs_, {batches_->rows(0, 0).front()}).to(device_));
  }
  std::string remarks() const override {
    const int64_t left_out = corpus_.left_out + batches_->left_out();
    std::string text;
    if (left_out > 0)
      text = "left out " + std::to_string(left_out) + " of " +
             std::to_string(corpus_.left_out + static_cast<int64_t>(corpus_.train.size())) +
             " training pairs: a side is empty or has more than data.max_length = " +
             std::to_string(settings_.corpus.max_length) + " tokens";
    if (!supervision_) return text;
    int64_t tokens = 0;
    for (const Ids& ids : pairs_.target) tokens += std::ssize(ids);
    return text + (text.empty() ? "" : "; ") + "supervise the attention of " +
           std::to_string(supervision_->supervised()) + " of " + std::to_string(tokens) +
           " target tokens; the words of the others have no link";
  }

  void write_files(const std::string& folder) override {
    translator_->languages().save(folder);
    write_config(folder, {{"task", "translate"},
                          {"lowercase", settings_.corpus.lowercase},
                          {"unescape", settings_.corpus.unescape},
                          {"joint", settings_.joint},
                          {"mechanism", mechanism()},
                          {"model", setting_json(model_settings_.resolved().written())}});
  }

  Json evaluate(const std::string& folder) override {
    Json report;
    const auto file = [&](const char* name) { return folder.empty() ? "" : folder + name; };
    report["dev"] = evaluated(corpus_.dev, file("/dev.hypotheses.txt"));
    if (corpus_.test.size() > 0) report["test"] = evaluated(corpus_.test, file("/test.hypotheses.txt"));
    return report;
  }

  Json state() const override { return reward_ ? Json{{"baseline", reward_->baseline()}} : Json(nullptr); }
  void set_state(const Json& state) override {
    if (!reward_) return;
    const bool fine = state.is_object() && state.contains("baseline") && state["baseline"].is_number();
    check(fine, "got ", state.dump().substr(0, 60), R"( for state.task, expected {"baseline": 0.5})");
    reward_->set_baseline(state["baseline"]);
  }
  Json data_hashes() const override { return data_hashes_; }
  std::string unit() const override { return "tokens"; }
  bool is_fixed(const std::string& key) const override {
    return (key.rfind("data.", 0) == 0 && key != "data.root") || key == "train.batch_tokens";
  }
  std::string mechanism() const override {
    const std::string kind = model_settings_.resolved().at("attention").text("kind", "mechanism");
    const AttentionSpec& spec = model_->attention().spec();
    if (kind != "mechanism") return kind;
    return (spec.structure.empty() ? "" : spec.structure + ": ") + spec.mechanism;
  }

 private:
  struct PairInput final : TaskInput {
    PairBatch batch;
  };

  /// On a GPU rows and lengths are rounded up, so that shapes repeat and steps can be captured, and padding is
  /// predicted too. A reward is computed from the real targets.
  PairBatch batch_of(const Share& share) const {
    const bool gpu = device_.is_cuda(), rounded = gpu && !reward_ && !supervision_;
    const BatchForm form{
        .rows = rounded ? kRowsOnGpu : 1, .length = rounded ? kLengthOnGpu : 1, .one_shape = rounded, .pinned = gpu};
    return collate(pairs_, batches_->rows(share.epoch, share.batch), share.rank, share.world, form);
  }

  std::unique_ptr<NoiseScope> noise_of(const Share& share, int64_t first_row) const {
    const uint64_t step = static_cast<uint64_t>(share.epoch) << 32U | static_cast<uint64_t>(share.batch);
    return std::make_unique<NoiseScope>(seed_, step, first_row);
  }

  Loss loss_of_batch(const Share& share, const PairBatch& batch) {
    if (batch.rows.empty()) return {};
    const auto noise = noise_of(share, batch.first_row);
    check(!reward_ || share.world == 1,
          "recipe: model.attention draws and learns by reward, whose baseline one process ",
          "keeps; train with one process");
    const bool soft = reward_ && reward_->is_soft(share.batch);
    const SoftAttention softened(*model_, soft);
    Call call;
    call.deterministic = settings_.deterministic;
    LinkSupervision::Request gold;
    if (supervision_) {
      gold = supervision_->request(batch);
      call.outputs = gold.outputs;
    }
    const Predicted predicted = model_->predict(batch, call);
    Loss loss;
    loss.count = batch.target_tokens;
    loss.sum = predicted.cross_entropy(
        {.smoothing = settings_.label_smoothing, .ignored = Tokenizer::kPad, .consume = reward_ == nullptr});
    if (reward_ && !soft) {
      loss.shown = loss.sum.detach();
      loss.sum = loss.sum + (*reward_)(predicted, static_cast<int64_t>(batch.rows.size()));
    }
    if (!supervision_) return loss;
    if (const Tensor more = supervision_->loss(gold, predicted.output.steps); more.defined()) {
      if (!loss.shown.defined()) loss.shown = loss.sum.detach();
      loss.sum = loss.sum + more.to(loss.sum.scalar_type());
    }
    return loss;
  }

  /// The gold weights of the tokens of every training pair.
  std::vector<std::vector<TokenLink>> gold_of_tokens() const {
    const Languages& languages = translator_->languages();
    std::vector<std::vector<TokenLink>> all;
    for (size_t i = 0; i < corpus_.train.size(); ++i) {
      const Segmentation source = languages.source->segment(corpus_.train.source[i]),
                         target = languages.target->segment(corpus_.train.target[i]);
      check_links(corpus_.train.links[i], source.words.size(), target.words.size(), corpus_.train.link_origins[i]);
      all.push_back(token_links(corpus_.train.links[i], source, target));
    }
    return all;
  }

  double dev_alignment_error() {
    std::vector<Links> gold = corpus_.dev.links;
    int64_t out_of_range = 0;
    const auto links = links_of(corpus_.dev, gold, out_of_range);
    return alignment_error(links, gold).error;
  }

  /// Draws the weights of a model with small vocabularies and drops them: earlier versions did, so that a seed gives
  /// the weights, and the figures, that it gave then.
  void draw_as_before() const {
    TranslationModel(model_settings_, {.source = 8, .target = 8, .joint = settings_.joint});
  }

  /// Refuses a max_length that excludes all training pairs.
  void check_longest(const Settings& data) const {
    const auto longest = static_cast<size_t>(settings_.corpus.max_length);
    for (size_t i = 0; i < pairs_.source.size(); ++i)
      if (longest == 0 || std::max(pairs_.source[i].size(), pairs_.target[i].size()) <= longest) return;
    data.refuse("max_length", "is ", longest, ", but none of ", pairs_.size(),
                " training pairs has at most so many tokens on both sides; raise it");
  }

  /// Dev and test are evaluated completely, so a sentence that would take minutes is an Error.
  void check_lengths(const Languages& languages, const TextPairs& text) const {
    if (settings_.corpus.max_length == 0) return;
    const int64_t max = std::max(settings_.corpus.max_length, kMaxTokens);
    for (size_t i = 0; i < text.origins.size(); ++i) {
      check_length(*languages.source, text.source[i], text.origins[i], max, kRaiseLongest);
      check_length(*languages.target, text.target[i], text.origins[i], max, kRaiseLongest);
    }
  }

  void hash_data() {
    const CorpusOptions& o = settings_.corpus;
    data_hashes_ = Json::object();
    add_hashes(data_hashes_, "data.train", o.is_grammar() ? std::vector<std::string>{} : o.train, o.swap,
               corpus_.train);
    add_hashes(data_hashes_, "data.dev", o.dev, o.swap, corpus_.dev);
    add_hashes(data_hashes_, "data.test", o.test, o.swap, corpus_.test);
    const auto hash_links = [&](const std::string& key, const std::vector<std::string>& from, const TextPairs& text) {
      std::vector<std::string> links;
      for (const auto& pair : text.links) links.push_back(pharaoh(pair));
      data_hashes_[key + (from.empty() ? "" : " (" + joined(from) + ")")] = md5_of_lines(links);
    };
    hash_links("data.links", o.links, corpus_.test);
    if (!o.dev_links.empty()) hash_links("data.dev_links", o.dev_links, corpus_.dev);
    if (!o.train_links.empty()) hash_links("data.train_links", o.train_links, corpus_.train);
  }

  BleuOptions bleu_options() const {
    BleuOptions options;
    options.tokenizer = settings_.tokenize;
    options.lowercase = settings_.corpus.lowercase;  // the references are lowercase, so the signature must contain it
    return options;
  }

  std::pair<double, int64_t> loss_of(const TextPairs& text) {
    double loss = 0;
    int64_t tokens = 0;
    for (const auto& scored : translator_->score(text.source, text.target, settings_.eval_batch_tokens, false)) {
      loss -= scored.log_probability;
      tokens += scored.tokens;
    }
    return {loss, tokens};
  }

  std::vector<std::string> texts_of(const TextPairs& text, const TranslateOptions& options) {
    std::vector<std::string> all;
    for (auto& translation : translator_->translate(text.source, options)) all.push_back(std::move(translation.text));
    return all;
  }

  Json evaluated(const TextPairs& text, const std::string& path) {
    const auto hypotheses = texts_of(text, settings_.best());
    if (!path.empty()) write_atomically(path, joined(hypotheses, "\n") + "\n");
    const auto options = bleu_options();
    const Bleu score = bleu(hypotheses, {text.target}, options);
    const auto [loss, tokens] = loss_of(text);
    const size_t shown = example_of(text.source);
    Json report{
        {"sentences", text.size()},
        {"bleu", score.score},
        {"bleu_details", details(score)},
        {"bleu_signature", signature(options)},
        {"chrf", chrf(hypotheses, {text.target}).score},
        {"ter", ter(hypotheses, {text.target}).score},
        {"perplexity", perplexity(loss, tokens)},
        {"tokens", tokens},
        {"beam", settings_.beam},
        {"example",
         {{"source", text.source[shown]}, {"reference", text.target[shown]}, {"hypothesis", hypotheses[shown]}}}};
    const auto source = sentence_lengths(text.source);
    report["source_length_unit"] = source.characters ? "characters" : "words";
    for (const auto& bucket : bleu_by_length(source.lengths, hypotheses, {text.target}, options))
      report["bleu_by_length"].push_back({{"from", bucket.shortest},
                                          {"to", bucket.longest},
                                          {"sentences", bucket.sentences},
                                          {"bleu", bucket.bleu.score}});
    if (!text.links.empty() && model_->aligns()) {
      std::vector<Links> gold = text.links;
      int64_t out_of_range = 0;
      const auto error = alignment_error(links_of(text, gold, out_of_range), gold);
      if (out_of_range > 0) report["gold_links_out_of_range"] = out_of_range;
      report["aer"] = error.error;
      report["aer_precision"] = error.precision;
      report["aer_recall"] = error.recall;
    }
    return report;
  }

  /// Links of the model. Removes and counts gold links to words that are not in the text.
  std::vector<Links> links_of(const TextPairs& text, std::vector<Links>& gold, int64_t& out_of_range) {
    std::vector<Links> all;
    for (const auto& scored : translator_->score(text.source, text.target, settings_.eval_batch_tokens)) {
      out_of_range += remove_out_of_range(gold[all.size()], scored.source_words.size(), scored.target_words.size());
      all.push_back(strongest_links(scored.weights));
    }
    return all;
  }

  TranslateSettings settings_;
  uint64_t seed_;
  at::Device device_;
  Settings model_settings_;
  Corpus corpus_;
  Json data_hashes_;  // hashes of the corpus
  IdPairs pairs_;     // token ids of the training text
  std::unique_ptr<Batches> batches_;
  std::shared_ptr<TranslationModel> model_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<RewardLoss> reward_;
  std::unique_ptr<LinkSupervision> supervision_;
};

std::shared_ptr<Task> make_translate(const Options&, const Settings& recipe, const TaskEnvironment& environment) {
  return std::make_shared<Translate>(recipe, environment);
}

const Task::Parts::Entry translate_entry{"translate",
                                         make_translate,
                                         {.formula = "p(y | x) = prod_i p(y_i | y_<i, x)",
                                          .paper = "Bahdanau et al., 2015",
                                          .choose = "text into other text"}};

}  // namespace
}  // namespace heed
