// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard::devices {

/// A number that only grows, by which streams wait for each other without the host. It begins at 0.
///
/// A stream signals a value when everything that was submitted to it before is done. Another stream, of this process or
/// of one that has opened the fence, waits for the value. The value says what is meant, such as the number of a step,
/// so a signal cannot be mistaken for another, however many are under way.
///
/// Wait in a stream only for a value whose signal has been submitted, as a message announces. Otherwise two streams
/// could wait for each other for ever.
class Fence {
 public:
  Fence() = default;
  virtual ~Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  /// Returns the largest value that has been reached. What was done before it is then visible.
  virtual std::uint64_t value() const = 0;

  /// Signals a value from the host. Throws kInternal if the fence has reached it already.
  virtual void signal(std::uint64_t value) = 0;

  /// Makes the host wait. Nothing in a step needs this; it is for the start and the end of a run, and for tests. Throws
  /// kTimeout, with both values, if `value` is not reached after `limit`.
  virtual void await(std::uint64_t value, std::chrono::milliseconds limit) const = 0;
};

}  // namespace trainyard::devices
