// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard::devices {

/// A number in memory that streams use to wait for each other without involving the host. It starts at 0 and only
/// grows.
///
/// One stream signals a value, which sets the fence to this value as soon as all earlier operations of the stream are
/// done. Another stream, in this process or in a process that has opened the fence, waits until the fence has reached
/// the value. Each value has a meaning, such as the number of a step, so signals cannot be confused with each other,
/// however many of them are pending.
///
/// Let a stream wait only for a value whose signal has already been submitted. (Normally, the component that has
/// submitted the signal tells the waiting component by a message.) Otherwise two streams could wait for each other
/// forever.
class Fence {
 public:
  Fence() = default;
  virtual ~Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  /// Returns the value that the fence has reached. The results of all operations that were submitted before the signal
  /// of this value are visible to the caller.
  virtual std::uint64_t value() const = 0;

  /// Sets the fence to `value` from the host. Throws kInternal if the fence has already reached `value`.
  virtual void signal(std::uint64_t value) = 0;

  /// Blocks the calling thread until the fence has reached `value`. This is meant for the start and the end of a run
  /// and for tests; training steps never need it. If `limit` passes first, throws kTimeout with `value` and the value
  /// that the fence has reached.
  virtual void await(std::uint64_t value, std::chrono::milliseconds limit) const = 0;
};

}  // namespace trainyard::devices
