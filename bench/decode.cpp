// bench_decode [--full] [--json <file>]: the time of one decoding step of a Transformer whose cache already holds many
// positions. A step reads all weights and the cache; if anything of the past were recomputed, a step after 1024
// positions would cost a multiple of one after 64. Everything runs on one thread, pinned to one processor. The report
// is written as JSON to the given file, by default to the build folder.

#include <iostream>

#include "bench/report.h"
#include "bench/resident.h"
#include <torch/utils.h>

#include "heed/structures/decode/transformer_decoder.h"

namespace heed::bench {
namespace {

constexpr int64_t kWidth = 512, kHeads = 8, kLayers = 6, kSource = 64, kSteps = 8;
constexpr double kBar = 1.5;

/// A decoder and a cache of `length` positions, from which every round starts.
class Stepping {
 public:
  Stepping(TransformerDecoder decoder, const Features& source, int64_t length)
      : decoder_(std::move(decoder)), past_(decoder_->start(source)) {
    decoder_->step(at::randn({1, length - 1, kWidth}), past_);
  }
  /// Copies the cache and makes it grow, untimed: doubling its capacity would distort the time of a step.
  void prepare() {
    cache_ = past_.select(at::zeros({1}, at::kLong));
    decoder_->step(next_, cache_);
  }
  void run() {
    for (int64_t i = 0; i < kSteps; ++i) decoder_->step(next_, cache_);
  }

 private:
  TransformerDecoder decoder_;
  DecoderCache past_, cache_;
  Tensor next_ = at::randn({1, 1, kWidth});
};

Race race_of(const std::string& name, const TransformerOptions& options, int rounds) {
  TransformerDecoder decoder(options);
  decoder->eval();
  const Features source = options.cross ? Features{at::randn({1, kSource, kWidth}), {}} : Features{};
  Race race(name, std::to_string(kSteps) + " steps of a decoder, " + options.mechanism + ", width 512, 8 heads, " +
                      "6 layers, batch 1, float" + (options.rotary.base > 0 ? ", rotary" : "") +
                      (options.cross ? ", source of 64" : ", no source"));
  std::vector<Stepping> all;
  for (const int64_t length : {64, 256, 1024}) {
    all.emplace_back(decoder, source, length);
    race.add("after " + std::to_string(length), {});
  }
  for (int round = -1; round < rounds; ++round)
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].prepare();
      const double took = seconds([&] { all[i].run(); });
      if (round >= 0) race.baselines[i].times.push_back(took);
    }
  race.add({"after 1024 / after 64", 1, {"after 1024"}, {"after 64"}, "of the time", kBar, false});
  race.add({"a step after 64", 1e3 / static_cast<double>(kSteps), {"after 64"}, {}, "ms"});
  race.add({"a step after 1024", 1e3 / static_cast<double>(kSteps), {"after 1024"}, {}, "ms"});
  race.running_on = kernels::cpu::instruction_set();
  race.print();
  return race;
}

int main_of(const std::vector<std::string>& arguments) {
  const auto program = own_program();
  const auto folder = program.substr(0, program.rfind('/'));
  std::string json = folder.substr(0, folder.rfind('/')) + "/bench_decode.json";
  bool full = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--full")
      full = true;
    else if (arguments[i] == "--json" && i + 1 < arguments.size())
      json = arguments[++i];
    else
      fail("bench: got '", arguments[i], "', expected --full or --json <file>");
  }
  const at::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto cores = one_of_each_core();
  check(!cores.empty() && pin(cores[0]), "bench: cannot pin the thread to a processor");
  use_threads(1);
  const auto machine = Machine::measure(cores);
  machine.print();

  TransformerOptions alone;
  alone.dim = kWidth;
  alone.num_heads = kHeads;
  alone.num_layers = kLayers;
  alone.cross = false;
  auto rotary = alone, additive = alone, with_source = alone;
  rotary.rotary.base = kPositionBase;
  additive.mechanism = "additive + softmax";
  with_source.cross = true;
  const int rounds = full ? 31 : 7;
  std::vector<Race> races;
  races.push_back(race_of("no_source", alone, rounds));
  races.push_back(race_of("source", with_source, rounds));
  races.push_back(race_of("rotary", rotary, rounds));
  races.push_back(race_of("additive", additive, rounds));
  write_json(json, machine, races, {}, {});
  std::printf("\nThe report is in %s\n", json.c_str());
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    return heed::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_decode: " << error.what() << '\n';
    return 1;
  }
}
