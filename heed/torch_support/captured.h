// Work on a GPU that is recorded once and repeated as a whole (a CUDA graph): one launch instead of a thousand. The
// work must read its inputs from the same memory each time, wait for nothing, and draw from torch's generators alone.
//
//   const CaptureStream stream(device);        // recording needs a stream of its own, for all the work of a program
//   Captured step(pool);
//   if (step.record(work)) step.replay();

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <c10/core/Device.h>

namespace heed {

/// Scope guard: a stream of its own is current on this thread; it begins after all earlier work on the device. Without
/// CUDA in this build, or on another device, it has no effect.
class CaptureStream {
 public:
  explicit CaptureStream(at::Device device);
  ~CaptureStream();
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

/// Memory that recorded works share: they run one after another, and none keeps a tensor in it.
class CapturePool {
 public:
  CapturePool();
  ~CapturePool();

 private:
  friend class Captured;
  struct Id;
  std::shared_ptr<Id> id_;
};

class Captured {
 public:
  /// Whether work on this device can be recorded in this build.
  static bool available(at::Device device);
  /// Whether the device has at least this share of its memory free.
  static bool has_free_memory(double share);

  explicit Captured(const CapturePool& pool);
  ~Captured();

  /// Records the work without running it. Returns why it could not be recorded; "" if it was.
  std::string record(const std::function<void()>& work);
  /// Runs what was recorded, on the current stream.
  void replay();

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace heed
