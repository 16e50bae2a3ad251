// Signals that end a run (Ctrl-C, SIGTERM, SIGHUP of a closed terminal, SIGUSR1 of a batch system that warns before its
// limit, SIGQUIT) as a question the loop asks, so that it can save and say how to resume.
//
//   const InterruptScope interrupt;
//   while (!interrupt.asked()) step();
//
// A second Ctrl-C ends the program at once. It must come half a second after the first signal: a launcher hands a
// Ctrl-C on that the terminal has sent to all of its processes already. The others may come as often as they like.
// A SIGHUP that was ignored before (nohup) stays ignored.

#pragma once

#include <array>
#include <csignal>

namespace heed {

class InterruptScope {
 public:
  /// One at a time. Afterwards the handlers are what they were. same_signal: seconds within which a second Ctrl-C is
  /// taken for the first.
  explicit InterruptScope(double same_signal = 0.5);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  bool asked() const { return signal() != 0; }
  /// The first of the signals that arrived, or 0.
  int signal() const;

  static constexpr std::array<int, 5> kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGQUIT};

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace heed
