#include "heed/data/tokenizer/json.h"

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using Model = TokenizerSpec::Model;
using Decoder = TokenizerSpec::Decoder;
using Split = TokenizerSpec::Split;

// ---- writing ----

std::string json_text(std::string_view text) {
  return Json(text).dump();
}

std::string replace_json(const Replacement& replacement) {
  return R"({"type":"Replace","pattern":{"String":)" + json_text(replacement.from) + R"(},"content":)" +
         json_text(replacement.to) + "}";
}

std::string decoder_json(const TokenizerSpec& spec) {
  if (spec.decoder == Decoder::none) return "null";
  if (spec.decoder == Decoder::replace) return replace_json(spec.decode);
  return R"({"type":"BPEDecoder","suffix":)" + json_text(spec.decode.from) + "}";
}

std::string added_tokens_json() {
  std::vector<std::string> items;
  for (const auto piece : kSpecialPieces) {
    items.push_back(R"(    {"id":)" + std::to_string(items.size()) + R"(,"content":)" + json_text(piece) +
                    R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})");
  }
  return "[\n" + joined(items, ",\n") + "\n  ]";
}

std::string pre_tokenizer_json(TokenizerSpec::Split split) {
  if (split == Split::none) return "null";
  std::string whitespace = R"({"type":"WhitespaceSplit"})";
  if (split == Split::whitespace) return whitespace;
  return R"({"type":"Sequence","pretokenizers":[)" + whitespace + R"(,{"type":"Punctuation","behavior":"Isolated"}]})";
}

std::string vocabulary_json(const std::vector<std::string>& pieces) {
  std::string text = "{";
  for (size_t i = 0; i < pieces.size(); ++i) {
    text += (i == 0 ? "\n      " : ",\n      ") + json_text(pieces[i]) + ":" + std::to_string(i);
  }
  return text + "\n    }";
}

std::string merges_json(const TokenizerSpec::Merges& merges) {
  std::string text = "[";
  for (const auto& [left, right] : merges) {
    text += (text.size() == 1 ? "\n      [" : ",\n      [") + json_text(left) + "," + json_text(right) + "]";
  }
  return text + (merges.empty() ? "]" : "\n    ]");
}

std::string model_json(const TokenizerSpec& spec) {
  const std::string unknown = R"("unk_token":"<unk>",)", vocabulary = R"("vocab":)" + vocabulary_json(spec.pieces);
  if (spec.model == Model::words) return R"({"type":"WordLevel",)" + unknown + vocabulary + "}";
  return R"({"type":"BPE","dropout":null,)" + unknown + R"("continuing_subword_prefix":null,"end_of_word_suffix":)" +
         (spec.end_of_word.empty() ? "null" : json_text(spec.end_of_word)) +
         R"(,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,)" + vocabulary + R"(,"merges":)" +
         merges_json(spec.merges) + "}";
}

// ---- reading ----

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  TokenizerSpec read(const std::string& text) {
    const Json root = parse(text);
    expect_object(root, "the file");
    expect_only(root, "the file",
                {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                 "decoder", "model"});
    for (const char* part : {"truncation", "padding", "post_processor"}) {
      if (!null_at(root, part)) refuse_feature(part, root[part]);
    }
    TokenizerSpec spec;
    if (!null_at(root, "normalizer")) spec.normalize = replacement(root["normalizer"], "normalizer");
    if (!null_at(root, "pre_tokenizer")) spec.split = split(root["pre_tokenizer"]);
    if (null_at(root, "model")) refuse("there is no model, expected WordLevel or BPE");
    read_model(root["model"], spec);
    read_decoder(root, spec);
    check_added(root);
    return spec;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail("data/tokenizer: ", path_, ": ", parts...);
  }

  /// A value from the file, short and printable.
  static std::string shown(const Json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    constexpr size_t kMax = 60;
    const Json whole = value.is_string() ? Json(value.get_ref<const std::string&>().substr(0, kMax)) : value;
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  [[noreturn]] void refuse_feature(const std::string& part, const Json& value) const {
    const bool typed = value.is_object() && value.contains("type");
    refuse(part, " ", typed ? shown(value["type"]) : shown(value),
           " is not supported; known: the normalizer Replace (of a text), the pre_tokenizer WhitespaceSplit "
           "(alone, or in a Sequence with Punctuation, isolated), the models WordLevel and BPE, the decoders "
           "BPEDecoder and Replace (of a text)");
  }

  Json parse(const std::string& text) const {
    constexpr int kDeepest = 16;
    // The parser would take a zero byte for the end of the text.
    if (text.find('\0') != std::string::npos) refuse("holds a zero byte; this is no tokenizer.json");
    try {
      return Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
        if (depth > kDeepest) refuse("is nested more than ", kDeepest, " deep; this is no tokenizer.json");
        return true;
      });
    } catch (const Json::exception& error) {
      refuse("is no JSON, it is damaged or cut short: ", error.what());
    }
  }

  static bool null_at(const Json& object, const std::string& key) {
    return !object.contains(key) || object[key].is_null();
  }

  void expect_object(const Json& value, const std::string& name) const {
    if (!value.is_object()) refuse(name, " is ", shown(value), ", expected an object");
  }

  void expect_only(const Json& object, const std::string& name, const std::vector<std::string>& known) const {
    for (const auto& item : object.items()) {
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        refuse(name, " has a field ", shown(item.key()), ", which is not supported; known: ", joined(known));
    }
  }

  std::string text_at(const Json& object, const std::string& key, const std::string& name) const {
    if (!object.contains(key)) refuse(name, " has no ", key, ", expected a text");
    if (!object[key].is_string()) refuse(name, ".", key, " is ", shown(object[key]), ", expected a text");
    return object[key].get<std::string>();
  }

  std::string type_of(const Json& object, const std::string& name) const {
    expect_object(object, name);
    return text_at(object, "type", name);
  }

  Replacement replacement(const Json& object, const std::string& name) const {
    if (type_of(object, name) != "Replace") refuse_feature(name, object);
    expect_only(object, name, {"type", "pattern", "content"});
    if (null_at(object, "pattern")) refuse(name, " has no pattern, expected {\"String\": a text}");
    expect_object(object["pattern"], name + ".pattern");
    expect_only(object["pattern"], name + ".pattern", {"String"});
    Replacement found{text_at(object["pattern"], "String", name + ".pattern"), text_at(object, "content", name)};
    if (found.from.empty()) refuse(name, " replaces an empty text, expected one to look for");
    return found;
  }

  Split split(const Json& value) const {
    for (const Split known : {Split::whitespace, Split::punctuation})
      if (value == Json::parse(pre_tokenizer_json(known))) return known;
    type_of(value, "pre_tokenizer");
    refuse_feature("pre_tokenizer", value);
  }

  void read_model(const Json& model, TokenizerSpec& spec) const {
    const std::string type = type_of(model, "model");
    if (type != "WordLevel" && type != "BPE") refuse_feature("model", model);
    spec.model = type == "BPE" ? Model::bpe : Model::words;
    if (spec.model == Model::words) {
      expect_only(model, "model", {"type", "vocab", "unk_token"});
    } else {
      expect_only(model, "model",
                  {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                   "byte_fallback", "ignore_merges", "vocab", "merges"});
      expect_off(model, {"dropout", "continuing_subword_prefix", "fuse_unk", "byte_fallback", "ignore_merges"});
      if (!null_at(model, "end_of_word_suffix")) spec.end_of_word = text_at(model, "end_of_word_suffix", "model");
    }
    const std::string unknown = text_at(model, "unk_token", "model");
    if (unknown != kSpecialPieces[1])
      refuse("model.unk_token is ", shown(unknown), ", expected \"", kSpecialPieces[1], "\"");
    spec.pieces = pieces(model);
    if (spec.model == Model::bpe) spec.merges = merges(model, spec.pieces);
  }

  void expect_off(const Json& model, const std::vector<std::string>& switches) const {
    for (const auto& name : switches) {
      const bool off = null_at(model, name) || model[name] == Json(false) || model[name] == Json("") ||
                       (model[name].is_number() && model[name] == 0);
      if (!off) refuse("model.", name, " is ", shown(model[name]), ", which is not supported; expected it to be off");
    }
  }

  /// Pieces by id: ids 0 ... n - 1 occur once each, the special pieces first.
  std::vector<std::string> pieces(const Json& model) const {
    if (!model.contains("vocab")) refuse("model has no vocab, expected an object of numbers by piece");
    const Json& vocabulary = model["vocab"];
    expect_object(vocabulary, "model.vocab");
    std::vector<std::string> all(vocabulary.size());
    std::vector<bool> seen(all.size());
    for (const auto& item : vocabulary.items()) {
      const Json& value = item.value();
      const bool fits = value.is_number_unsigned() && value.get<uint64_t>() < all.size();
      if (!fits || seen[value.get<size_t>()])
        refuse("model.vocab: ", shown(item.key()), " is ", shown(value), ", expected each of 0 to ", all.size() - 1,
               " once");
      seen[value.get<size_t>()] = true;
      all[value.get<size_t>()] = item.key();
    }
    for (size_t i = 0; i < kSpecialPieces.size(); ++i) {
      if (i >= all.size() || all[i] != kSpecialPieces[i])
        refuse("model.vocab: piece ", i, " is ", i < all.size() ? shown(all[i]) : "absent", ", expected \"",
               kSpecialPieces[i], "\" (the first four are <pad> <unk> <s> </s>)");
    }
    return all;
  }

  TokenizerSpec::Merges merges(const Json& model, const std::vector<std::string>& pieces) const {
    if (!model.contains("merges") || !model["merges"].is_array())
      refuse("model has no list of merges, expected [[\"left\", \"right\"], ...]");
    const std::unordered_set<std::string> known(pieces.begin(), pieces.end());
    TokenizerSpec::Merges all;
    for (const Json& item : model["merges"]) {
      auto [left, right] = merge(item, all.size());
      for (const auto& part : {left, right, left + right}) {
        if (known.count(part) == 0)
          refuse("model.merges[", all.size(), "]: ", shown(part), " is no piece of the vocab");
      }
      all.emplace_back(std::move(left), std::move(right));
    }
    return all;
  }

  /// ["left", "right"], or "left right" as in older files.
  std::pair<std::string, std::string> merge(const Json& item, size_t index) const {
    if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string())
      return {item[0].get<std::string>(), item[1].get<std::string>()};
    const std::string text = item.is_string() ? item.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      refuse("model.merges[", index, "] is ", shown(item), ", expected [\"left\", \"right\"]");
    return {text.substr(0, space), text.substr(space + 1)};
  }

  void read_decoder(const Json& root, TokenizerSpec& spec) const {
    if (null_at(root, "decoder")) return;
    const Json& decoder = root["decoder"];
    if (type_of(decoder, "decoder") == "BPEDecoder") {
      expect_only(decoder, "decoder", {"type", "suffix"});
      spec.decoder = Decoder::bpe;
      spec.decode = {text_at(decoder, "suffix", "decoder"), " "};
      if (spec.decode.from.empty()) refuse("decoder.suffix is empty, expected a mark such as \"</w>\"");
    } else {
      spec.decoder = Decoder::replace;
      spec.decode = replacement(decoder, "decoder");
    }
  }

  /// added_tokens must be the special pieces, which are recognized in any context.
  void check_added(const Json& root) const {
    const bool list = root.contains("added_tokens") && root["added_tokens"].is_array();
    if (!list || root["added_tokens"].size() != kSpecialPieces.size())
      refuse("added_tokens are ", list ? std::to_string(root["added_tokens"].size()) : "no list",
             ", expected the four <pad> <unk> <s> </s>; others are not supported");
    for (size_t i = 0; i < kSpecialPieces.size(); ++i) {
      const Json& token = root["added_tokens"][i];
      const std::string name = "added_tokens[" + std::to_string(i) + "]";
      expect_object(token, name);
      expect_only(token, name, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
      const std::string content = text_at(token, "content", name);
      if (content != kSpecialPieces[i] || !token.contains("id") || token["id"] != Json(i))
        refuse(name, " is ", shown(content), ", expected \"", kSpecialPieces[i], "\" with the id ", i);
      for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
        const bool wanted = flag == std::string("special");
        if (!token.contains(flag) || token[flag] != Json(wanted))
          refuse(name, ".", flag, " is not ", wanted ? "true" : "false", ", which is not supported");
      }
    }
  }

  const std::string& path_;
};

}  // namespace

std::string tokenizer_json(const TokenizerSpec& spec) {
  return R"({
  "version":"1.0",
  "truncation":null,
  "padding":null,
  "added_tokens":)" +
         added_tokens_json() + R"(,
  "normalizer":)" +
         (spec.normalize.from.empty() ? "null" : replace_json(spec.normalize)) + R"(,
  "pre_tokenizer":)" +
         pre_tokenizer_json(spec.split) + R"(,
  "post_processor":null,
  "decoder":)" +
         decoder_json(spec) + R"(,
  "model":)" +
         model_json(spec) + "\n}\n";
}

TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& path) {
  return Reader(path).read(text);
}

}  // namespace heed
