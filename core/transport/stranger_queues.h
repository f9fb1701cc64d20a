// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// A connection of somebody whose key the socket has not admitted yet.
struct Stranger {
  enum class State {
    kOpening,   ///< Has not sent its greeting and its HELLO yet.
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
  std::chrono::steady_clock::time_point last;  ///< When the connection is closed.
  std::list<Stranger>::iterator place;
};

/// The strangers of a StrangerFilter, and the order in which their turn comes and their time ends. A stranger keeps its
/// address until forget_over() is called, so events of the kernel can refer to it. The state of a stranger is changed
/// by this class only.
class StrangerQueues {
 public:
  using Clock = std::chrono::steady_clock;

  /// A stranger has the time `patience` for its opening, and the same time again for the rest.
  explicit StrangerQueues(std::chrono::milliseconds patience) : patience_(patience) {}

  /// Adds a stranger that has connected at the time `now`.
  Stranger& add(FileDescriptor outer, Clock::time_point now);
  /// Lets a stranger whose opening is complete wait for its turn.
  void enqueue(Stranger& stranger, Clock::time_point now);
  /// Returns the stranger whose turn is next. One must be waiting.
  Stranger& next() { return *waiting_.front(); }
  /// Begins the examination of the next stranger.
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
  /// Returns the stranger that has taken longest for its opening. There must be one whose opening is not complete.
  Stranger& oldest_opening() { return opening_.front(); }

  /// Returns when the time of the first stranger ends, or nothing if there are no strangers.
  std::optional<Clock::time_point> first_deadline() const;
  /// Returns a stranger whose time has ended, or null if there is none.
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
