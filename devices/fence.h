// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard::devices {

/// A number that only grows, with which streams wait for each other without the host. It begins at 0.
///
/// A stream signals a value when all operations that were submitted to it before are done. Another stream, of this
/// process or of a process that has opened the fence, waits for this value. The value has a meaning, such as the number
/// of a step, so one signal cannot be mistaken for another, however many have been submitted.
///
/// A stream may wait only for a value whose signal has already been submitted, which another component can announce
/// with a message. Otherwise two streams could wait for each other for ever.
class Fence {
 public:
  Fence() = default;
  virtual ~Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  /// Returns the largest value that has been signalled. The results of all operations before that signal are then
  /// visible.
  virtual std::uint64_t value() const = 0;

  /// Signals a value from the host. Throws kInternal if the fence already has this value or a larger one.
  virtual void signal(std::uint64_t value) = 0;

  /// Makes the host wait for a value. Use this at the start and the end of a run and in tests, but not in a step.
  /// Throws kTimeout, with both values, if the fence has not reached `value` after `limit`.
  virtual void await(std::uint64_t value, std::chrono::milliseconds limit) const = 0;
};

}  // namespace trainyard::devices
