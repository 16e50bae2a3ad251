// Where the time of a step goes: the time of each operator of torch without that of the operators it calls, in groups.
// What torch does not see, kernels of ours above all, is the rest.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <ATen/record_function.h>

namespace heed::bench {

class Shares {
 public:
  /// Runs f and adds its time.
  template <typename F>
  void add(const F& f) {
    times_.clear();
    open_.clear();
    own_ = this;
    const auto handle =
        at::addThreadLocalCallback(at::RecordFunctionCallback(begin, end).scopes({at::RecordScope::FUNCTION}));
    const auto start = Clock::now();
    f();
    total_ += seconds_since(start);
    at::removeCallback(handle);
    own_ = nullptr;
    for (const auto& [name, time] : times_) {
      groups_[group_of(name)] += time;
      names_[name] += time;
    }
  }

  /// Milliseconds of one of `steps`, and percent.
  void print(const std::string& title, double steps) const {
    std::printf("\n%s: %.1f ms in a step, recorded\n", title.c_str(), 1e3 * total_ / steps);
    double rest = total_;
    for (const auto& [group, time] : sorted(groups_)) {
      std::printf("  %-28s %8.1f ms %6.1f %%\n", group.c_str(), 1e3 * time / steps, 100 * time / total_);
      rest -= time;
    }
    std::printf("  %-28s %8.1f ms %6.1f %%\n", "kernels of heed, the rest", 1e3 * rest / steps, 100 * rest / total_);
    int left = 12;
    for (const auto& [name, time] : sorted(names_)) {
      if (left-- == 0) break;
      std::printf("    %-36s %8.1f ms %6.1f %%\n", name.c_str(), 1e3 * time / steps, 100 * time / total_);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Times = std::map<std::string, double>;
  struct Open {
    Clock::time_point start;
    double inside = 0;
  };

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) {
    if (own_ != nullptr) own_->open_.push_back({Clock::now()});
    return nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext*) {
    if (own_ == nullptr || own_->open_.empty()) return;
    const Open last = own_->open_.back();
    own_->open_.pop_back();
    const double took = seconds_since(last.start);
    own_->times_[function.name()] += took - last.inside;
    if (!own_->open_.empty()) own_->open_.back().inside += took;
  }
  static std::vector<std::pair<std::string, double>> sorted(const Times& times) {
    std::vector<std::pair<std::string, double>> all(times.begin(), times.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return all;
  }
  static std::string group_of(const std::string& name) {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> groups{
        {"products", {"mm", "linear", "matmul"}},
        {"embedding", {"embedding", "index"}},
        {"softmax and loss", {"softmax", "nll", "cross_entropy"}},
        {"norm of layers", {"layer_norm"}},
        {"dropout", {"dropout", "bernoulli"}},
        {"copies", {"copy", "cat", "stack", "clone", "contiguous", "zero", "fill", "gather"}},
        {"sums", {"sum", "norm"}},
        {"memory", {"empty", "resize"}}};
    for (const auto& [group, words] : groups)
      for (const auto& word : words)
        if (name.find(word) != std::string::npos) return group;
    return "elementwise, views";
  }

  static thread_local inline Shares* own_ = nullptr;
  std::vector<Open> open_;
  Times times_, groups_, names_;
  double total_ = 0;
};

}  // namespace heed::bench
