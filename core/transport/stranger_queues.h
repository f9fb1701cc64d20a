// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// A connection from a client whose key the socket has not admitted yet.
struct Stranger {
  enum class State {
    kOpening,   ///< Has not sent its whole greeting and HELLO yet.
    kWaiting,   ///< Knows the public key, and waits for its turn.
    kExamined,  ///< Is connected to the socket, which examines its key.
    kOver,
  };

  FileDescriptor outer;  ///< The connection to the other side.
  FileDescriptor inner;  ///< The connection to the socket; none until the examination begins.
  State state = State::kOpening;
  std::string heard;  ///< What the other side has sent.
  std::string told;   ///< What the socket has sent.
  bool greeted = false;
  std::chrono::steady_clock::time_point last;  ///< The deadline for its opening or, after that, for its admission.
  std::list<Stranger>::iterator place;
};

/// The strangers of a StrangerFilter, in the order of their turns and of their deadlines. A stranger first sends its
/// opening (its greeting and HELLO; see CurveOpening), then waits for its turn, and is then examined. The object of a
/// stranger is not moved or destroyed until end() and then forget_over() are called, so events of the kernel can point
/// to it. The state of a stranger is changed by this class only.
class StrangerQueues {
 public:
  using Clock = std::chrono::steady_clock;

  /// `patience` is the time that a stranger has for its opening, and then again for its admission.
  explicit StrangerQueues(std::chrono::milliseconds patience) : patience_(patience) {}

  /// Adds a stranger that has connected at the time `now`.
  Stranger& add(FileDescriptor outer, Clock::time_point now);
  /// Lets a stranger whose opening is complete wait for its turn. Its deadline for being admitted is counted from
  /// `now`.
  void enqueue(Stranger& stranger, Clock::time_point now);
  /// Returns the stranger whose turn is next. At least one must be waiting.
  Stranger& next() { return *waiting_.front(); }
  /// Removes the next stranger from those that wait, and records that its examination has begun.
  void begin_next();
  /// Takes a stranger out of all queues. The object exists until forget_over() is called.
  void end(Stranger& stranger);
  /// Destroys the strangers that were passed to end().
  void forget_over() { over_.clear(); }

  /// These functions return the number of strangers whose opening is not complete, of those that wait for their turn,
  /// and of those that forget_over() will destroy.
  std::size_t opening() const { return opening_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t over() const { return over_.size(); }
  /// Of the strangers whose opening is not complete, returns the one that connected first. There must be at least one.
  Stranger& oldest_opening() { return opening_.front(); }

  /// Returns the earliest deadline of all strangers, or nothing if there are no strangers.
  std::optional<Clock::time_point> first_deadline() const;
  /// Returns a stranger whose deadline has passed, or null if there is none.
  Stranger* late(Clock::time_point now);

 private:
  const std::chrono::milliseconds patience_;
  // Both are in the order in which the time of the strangers ends.
  std::list<Stranger> opening_;  ///< Those that have not shown yet that they know the public key.
  std::list<Stranger> knowing_;  ///< Those that have shown it.
  std::list<Stranger> over_;
  std::list<Stranger*> waiting_;  ///< Those of knowing_ that wait for their turn.
};

}  // namespace trainyard::core
