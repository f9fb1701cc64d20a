// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "collectives/operation.h"
#include "messages/error.h"

namespace trainyard::collectives {

class OperationQueue;
struct QueuedOperation;

/// The reason why a group of ranks can no longer exchange data.
struct Failure {
  Code code = Code::kInternal;
  /// The error text, which names the rank to blame if it is known. A rank that learns of the failure from another rank
  /// reports the same text.
  std::string text;
};

/// The arguments of Agreement::rest(), which the engine calls when none of its operations can make progress.
struct Pause {
  const OperationQueue& queue;        ///< The unfinished operations of the member that rests.
  std::uint32_t looks = 1;            ///< The number of consecutive checks without progress.
  std::chrono::microseconds most{0};  ///< The longest time that rest() may sleep.
};

/// The part of a collective's backend through which the members of a group (its ranks) learn of each other's operations
/// and failures. MeshAgreement implements it over sockets. Each member has its own object; "this member" is the member
/// that the object belongs to. The engine, which carries out the operations, calls all functions on one thread, except
/// wake(), which any thread may call.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Announces to all other members that this member has called `operation`, and sends them the arguments of the call
  /// (the operation's request). The engine announces only collective operations, in the order of their calls, and each
  /// of them only when no unfinished earlier operation uses the same memory. Returns false if there is no room for the
  /// announcement yet; the engine then calls the function again later.
  virtual bool announce(const Operation& operation) = 0;

  /// Returns the request (the arguments of the call) with which another member has announced the collective operation
  /// number `operation.order`, or null if that member has not announced it yet. The pointer is valid until finished()
  /// is called for the operation.
  virtual const Request* request_of(std::uint32_t member, const Operation& operation) const = 0;

  /// Called when this member has finished the operation. The requests for it can then be discarded.
  virtual void finished(const Operation& operation) = 0;

  /// Reports a failure to all other members. Each member keeps only the first failure that it detects or learns of.
  virtual void tell(const Failure& failure) = 0;
  /// Returns a failure that another member has reported, or nothing if there is none.
  virtual std::optional<Failure> told() = 0;

  /// Receives the messages that have arrived, without waiting. An implementation that uses no messages, such as one
  /// over shared memory, need not override this function.
  virtual void receive() {}

  /// Called when the engine can make no progress. Yields the processor, or sleeps until another member makes progress
  /// or wake() is called, but no longer than `pause.most`. Returns false if it only yielded the processor, without
  /// calling `look_again`. Otherwise returns true, and the engine then checks for failures.
  ///
  /// A wake-up that comes between the engine's last check and the sleep could be lost. An implementation for which this
  /// is possible must first show the other members that this member is about to sleep, and then call `look_again`,
  /// which makes the engine check once more. The implementation must not sleep if `look_again` returns true, because
  /// the engine has then made progress or has failed.
  virtual bool rest(const Pause& pause, const std::function<bool()>& look_again) = 0;

  /// Wakes this member if it sleeps in rest(). Any thread may call this function. An implementation must override it if
  /// the engine runs on a separate thread (Thread::kOwn).
  virtual void wake() {}

  /// Leaves the group. Waits for a limited time until the other members have received everything that this member sent
  /// to them. If `failed` is true, the group has failed, and the time is shorter, because some members may no longer
  /// receive anything. The default does nothing.
  virtual void leave(bool failed) { static_cast<void>(failed); }
};

/// The state of a member, as the other members see it.
enum class Presence : std::uint8_t {
  /// The member has neither left nor been lost.
  kHere,
  kLeft,  ///< The member has left the group normally.
  kLost,  ///< The member's process or connection is gone.
};

/// A member's answer to a probe, that is, to the question whether the member is still alive.
struct Answer {
  bool waits = false;                      ///< True if the thread that uses the collective waits for an operation.
  std::optional<std::uint32_t> waits_for;  ///< The member that this thread waits for, if known.
};

/// The part of a collective's backend that reports which members of the group are still there, and which of them are
/// idle only because they wait for other members. The class Blame uses it to find the member that holds up the
/// group. MeshAttendance implements it over sockets. "This member" is the member that the object belongs to. All
/// functions are called by one thread.
class Attendance {
 public:
  virtual ~Attendance() = default;

  /// Returns whether a member is still there. Once the result is kLeft or kLost, one more call to Agreement::receive()
  /// receives everything that the member has sent.
  virtual Presence presence(std::uint32_t member) = 0;

  /// Returns a number that changes whenever the member makes progress or sends something. Only changes of the number
  /// matter.
  virtual std::uint64_t signs(std::uint32_t member) const = 0;

  /// Sets the answer that this member gives to the probes of others. While the caller of the collective waits for an
  /// operation, the engine calls this function about every 50 ms, so an implementation may also treat the calls
  /// themselves as signs of life.
  virtual void show(const Answer& answer) = 0;

  /// Asks all other members whether they are still alive, without waiting for the answers; see answer().
  virtual void probe() = 0;
  /// Returns the member's answer to the last probe(), or nothing if the member has not answered.
  virtual std::optional<Answer> answer(std::uint32_t member) const = 0;
};

}  // namespace trainyard::collectives
