#include "heed/base/interrupt.h"

#include <atomic>
#include <ctime>
#include <limits>

#include "heed/base/check.h"

namespace heed {
namespace {

// The handler uses lock-free atomics, clock_gettime, signal and raise only, which are async-signal-safe.
std::atomic<int> first_signal{0};
std::atomic<double> first_time{0}, patience{0};
std::atomic<bool> in_use{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<double>::is_always_lock_free);

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void on_signal(int number) {
  int nothing = 0;
  if (first_signal.compare_exchange_strong(nothing, number)) {
    first_time = seconds();
  } else if (number == SIGINT && seconds() - first_time >= patience) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);  // delivered when this handler returns
  }
}

}  // namespace

InterruptScope::InterruptScope(double same_signal) {
  check(!in_use.exchange(true), "base/interrupt: got a second InterruptScope, expected one at a time");
  first_time = std::numeric_limits<double>::infinity();  // until the first handler sets it
  first_signal = 0;
  patience = same_signal;
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART;  // restarts interrupted reads and writes
  ::sigemptyset(&ours.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    const bool nohup = kSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    if (!nohup) ::sigaction(kSignals[i], &ours, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  in_use = false;
}

int InterruptScope::signal() const {
  return first_signal;
}

}  // namespace heed
