// Damaged files of a run: each is refused by name or has no effect. None results in another model.
//
// HEED_MUTATIONS=500 sets the number of mutations (default: a few); mutation i is the same every time.

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "heed/base/md5.h"
#include "heed/models/translate/translator.h"
#include "heed/train/testing_run.h"

namespace heed::testing {
namespace {

using Json = nlohmann::ordered_json;
using Random = std::mt19937_64;

size_t below(Random& random, size_t n) {
  return static_cast<size_t>(random() % std::max<size_t>(n, 1));
}

template <typename Item>
const Item& any_of(Random& random, const std::vector<Item>& items) {
  return items[below(random, items.size())];
}

// ---- bytes ----

std::string with_damaged_bytes(std::string bytes, Random& random, size_t from, size_t to) {
  const size_t at = from + below(random, to - from);
  switch (below(random, 6)) {
    case 0:
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes += std::string(1 + below(random, 100), any_of(random, std::vector<char>{'\0', ' ', 'x'}));
      break;
    case 4:
      for (size_t i = at; i < std::min(bytes.size(), at + 64); ++i) bytes[i] = '\0';
      break;
    default:
      bytes.erase(at, 1 + below(random, 16));
  }
  return bytes;
}

// ---- JSON ----

/// JSON pointers of all values below.
void list_values(const Json& json, const Json::json_pointer& here, std::vector<Json::json_pointer>& all) {
  if (!here.empty()) all.push_back(here);
  if (json.is_object())
    for (const auto& [key, value] : json.items()) list_values(value, here / key, all);
  if (json.is_array())
    for (size_t i = 0; i < json.size(); ++i) list_values(json[i], here / i, all);
}

/// Removes or replaces one value.
void damage_value(Json& json, Random& random) {
  std::vector<Json::json_pointer> all;
  list_values(json, Json::json_pointer(), all);
  const auto pointer = any_of(random, all);
  if (below(random, 3) == 0) {
    Json& parent = json[pointer.parent_pointer()];
    if (parent.is_object())
      parent.erase(pointer.back());
    else
      parent.erase(parent.begin());
    return;
  }
  Json& value = json[pointer];
  const std::vector<Json> others{-1,    0,       1,   3,    1.5,           1000000000,
                                 1e308, nullptr, "x", true, Json::array(), Json::object()};
  value = value.is_number() && below(random, 2) == 0 ? Json(value.get<double>() + 1) : any_of(random, others);
}

// ---- safetensors ----

struct Parts {
  Json header;
  std::string data;
};

Parts split_file(const std::string& bytes) {
  uint64_t length = 0;
  std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
  return {Json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

std::string whole_file(const Parts& parts) {
  std::string header = parts.header.dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + parts.data;
}

std::vector<std::string> tensor_names(const Json& header) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header.items())
    if (name != "__metadata__") names.push_back(name);
  return names;
}

std::string with_damaged_tensors(const std::string& bytes, Random& random) {
  Parts parts = split_file(bytes);
  Json& header = parts.header;
  const auto names = tensor_names(header);
  const std::string name = any_of(random, names), other = any_of(random, names);
  switch (below(random, 7)) {
    case 0:  // dropped, with its bytes
      for (const auto& later : names)
        if (header[later]["data_offsets"][0] >= header[name]["data_offsets"][1])
          for (auto& offset : header[later]["data_offsets"])
            offset = offset.get<int64_t>() -
                     (header[name]["data_offsets"][1].get<int64_t>() - header[name]["data_offsets"][0].get<int64_t>());
      parts.data.erase(header[name]["data_offsets"][0].get<size_t>(),
                       header[name]["data_offsets"][1].get<size_t>() - header[name]["data_offsets"][0].get<size_t>());
      header.erase(name);
      break;
    case 1: {  // renamed
      const Json entry = header[name];
      header.erase(name);
      header[name + "_"] = entry;
      break;
    }
    case 2:  // exchanged with another one
      std::swap(header[name], header[other]);
      break;
    case 3:
      header[name]["dtype"] = any_of(random, std::vector<std::string>{"I32", "F64", "BF16", "BOOL", "F8"});
      break;
    case 4:  // another shape with as many values
      header[name]["shape"].insert(header[name]["shape"].begin(), 1);
      break;
    case 5: {  // values in another order
      const size_t begin = header[name]["data_offsets"][0], end = header[name]["data_offsets"][1];
      std::rotate(parts.data.begin() + static_cast<std::ptrdiff_t>(begin),
                  parts.data.begin() + static_cast<std::ptrdiff_t>(begin + 4),
                  parts.data.begin() + static_cast<std::ptrdiff_t>(end));
      break;
    }
    default:
      damage_value(header, random);
  }
  return whole_file(parts);
}

std::string with_damaged_metadata(const std::string& bytes, Random& random) {
  Parts parts = split_file(bytes);
  Json& metadata = parts.header["__metadata__"];
  if (metadata.contains("state") && below(random, 3) != 0) {
    Json state = Json::parse(metadata["state"].get<std::string>());
    damage_value(state, random);
    metadata["state"] = state.dump();
  } else {
    damage_value(metadata, random);
  }
  return whole_file(parts);
}

// ---- tokenizers ----

std::string with_other_ids(const std::string& bytes, Random& random) {
  Json json = Json::parse(bytes);
  Json& vocabulary = json["model"]["vocab"];
  std::vector<std::string> pieces;
  for (const auto& [piece, id] : vocabulary.items())
    if (id > 3) pieces.push_back(piece);
  const std::string a = any_of(random, pieces), b = any_of(random, pieces);
  std::swap(vocabulary[a], vocabulary[b]);
  return json.dump();
}

/// Damaged content for the file of that name.
std::string damaged(const std::string& name, const std::string& bytes, const std::string& of_another_run,
                    Random& random) {
  const size_t kind = below(random, 8);
  if (kind == 0) return of_another_run;
  if (name.find(".safetensors") != std::string::npos) {
    if (kind <= 2) return with_damaged_tensors(bytes, random);
    if (kind <= 4) return with_damaged_metadata(bytes, random);
    const size_t header = 8 + split_file(bytes).header.dump().size();
    return kind == 5 ? with_damaged_bytes(bytes, random, 0, header)
                     : with_damaged_bytes(bytes, random, header, bytes.size());
  }
  if (kind <= 3) {
    Json json = Json::parse(bytes);
    damage_value(json, random);
    return json.dump(2) + "\n";
  }
  if (kind == 4 && name.find("tokenizer") == 0) return with_other_ids(bytes, random);
  return with_damaged_bytes(bytes, random, 0, bytes.size());
}

/// The output of the model for a sentence, to the last bit.
std::string translation_by(const std::string& run) {
  Translator translator = Translator::load(run, at::kCPU);
  std::string all;
  for (const auto& translation : translator.translate({"Tom chases Jerry", "the cat sleeps"}))
    all += translation.text + " " + std::to_string(translation.log_probability) + "\n";
  return all;
}

void copy_run(const std::string& from, const std::string& to) {
  make_folders(to);
  for (const auto& name : Folder::names(to)) ::unlink((to + "/" + name).c_str());
  for (const auto& name : Folder::names(from))
    std::ofstream(to + "/" + name, std::ios::binary) << read_file(from + "/" + name);
}

struct Outcome {
  int refused = 0, without_effect = 0;
};

/// Runs the action on damaged files: it throws an Error, or returns the result for the undamaged ones.
void expect_refusal_or(const std::string& expected, const std::function<std::string()>& action, const std::string& file,
                       const std::string& what, Outcome& outcome) {
  try {
    EXPECT_EQ(action(), expected) << what << " was taken for whole";
    ++outcome.without_effect;
  } catch (const Error& error) {
    const std::string said = error.what();
    ++outcome.refused;
    EXPECT_NE(said.find(file), std::string::npos) << what << ": the file is not named in: " << said;
    for (const char* never : {"json.exception", "Exception raised from", "frame #"})
      EXPECT_EQ(said.find(never), std::string::npos) << what << ": " << said;
    EXPECT_LT(said.size(), 1500U) << what << ": " << said;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": not an Error of ours: " << error.what();
  }
}

TEST(DamagedRun, IsRefusedOrAsItWas) {
  const char* const asked = std::getenv("HEED_MUTATIONS");
  const int count = asked != nullptr ? std::atoi(asked) : 60;
  const Folder folder;
  const std::string half = folder.path("half"), whole = folder.path("whole"), other = folder.path("other"),
                    run = folder.path("run");
  const std::vector<std::string> all_steps{"train.max_steps=16"};
  train_tiny(half, {"train.max_steps=11"});
  train_tiny(other, {"train.max_steps=11", "train.seed=2", "data.grammar.seed=2", "model.embedding.dropout=0"});
  copy_run(half, whole);
  const auto resumed = [&](const std::string& in) {
    resume_tiny(in, all_steps);
    std::string all;
    for (const auto& [name, tensor] : tensors_of(in))
      all += name + std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
    return md5_hex(all);
  };
  const std::string translation = translation_by(half), weights = resumed(whole);
  copy_run(half, run);  // an undamaged copy is accepted
  EXPECT_EQ(translation_by(run), translation);
  EXPECT_EQ(resumed(run), weights);
  Outcome outcome;
  for (int i = 0; i < count; ++i) {
    Random random(static_cast<uint64_t>(i));
    const std::string name =
        std::vector<std::string>{"checkpoint.safetensors", "model.safetensors", "config.json",
                                 below(random, 2) == 0 ? "tokenizer.source.json" : "tokenizer.target.json"}
            .at(static_cast<size_t>(i) % 4);
    const std::string bytes = read_file(half + "/" + name);
    const std::string changed = damaged(name, bytes, read_file(other + "/" + name), random);
    const std::string what = "mutation " + std::to_string(i) + " of " + name;
    copy_run(half, run);
    ::unlink((run + "/" + name).c_str());
    std::ofstream(run + "/" + name, std::ios::binary) << changed;
    const Outcome before = outcome;
    if (name != "checkpoint.safetensors")
      expect_refusal_or(
          translation, [&] { return translation_by(run); }, name, what, outcome);
    if (name != "model.safetensors")
      expect_refusal_or(
          weights, [&] { return resumed(run); }, name, what, outcome);
    const bool same = changed == bytes;
    EXPECT_TRUE(!same || outcome.refused == before.refused) << what << " changes nothing, but was refused";
  }
  EXPECT_GT(outcome.refused, count / 2);
  std::printf("%d mutations: refused %d times, without effect %d times\n", count, outcome.refused,
              outcome.without_effect);
}

}  // namespace
}  // namespace heed::testing
