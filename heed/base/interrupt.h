// Turns signals that end a run (Ctrl-C, SIGTERM, SIGHUP of a closed terminal, SIGUSR1 of a batch system before its time
// limit, SIGQUIT) into a flag that the loop polls, so that it can save a checkpoint before it stops.
//
//   const InterruptScope interrupt;
//   while (!interrupt.asked()) step();
//
// A second Ctrl-C ends the program at once. It must arrive at least half a second after the first signal, because a
// launcher may forward a Ctrl-C that the terminal has already sent to all its processes. Repeated other signals have no
// effect. A SIGHUP that was ignored before (nohup) stays ignored.

#pragma once

#include <array>
#include <csignal>

namespace heed {

class InterruptScope {
 public:
  /// Installs the handlers; the destructor restores the old ones. Only one object may exist at a time. same_signal:
  /// seconds within which a second Ctrl-C counts as the first.
  explicit InterruptScope(double same_signal = 0.5);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal has arrived.
  bool asked() const { return signal() != 0; }
  /// The first signal that arrived, or 0.
  int signal() const;

  static constexpr std::array<int, 5> kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGQUIT};

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace heed
