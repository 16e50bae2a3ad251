// Ctrl-C and SIGTERM as a question the loop asks, so that it can save and say how to resume.
//
//   const InterruptScope interrupt;
//   while (!interrupt.asked()) step();
//
// A second Ctrl-C ends the program at once. It must come half a second after the first signal: a launcher hands a
// Ctrl-C on that the terminal has sent to all of its processes already. SIGTERM may come as often as it likes.

#pragma once

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
  /// SIGINT or SIGTERM, whichever came first, or 0.
  int signal() const;

 private:
  struct sigaction before_interrupt_ {
  }, before_terminate_{};
};

}  // namespace heed
