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

/// The reason why a group can no longer be used.
struct Failure {
  Code code = Code::kInternal;
  /// The error text, which names the rank to blame if it is known. Members that receive a failure from another member
  /// report the same text.
  std::string text;
};

/// The arguments of Agreement::rest(), for a member that cannot make progress at the moment.
struct Pause {
  const OperationQueue& queue;        ///< The unfinished operations of this member.
  std::uint32_t looks = 1;            ///< The number of consecutive checks without progress.
  std::chrono::microseconds most{0};  ///< The maximum time that the member may sleep.
};

/// The part of a backend that informs the members of a group about each other's operations and failures. MeshAgreement
/// is an implementation over sockets. The engine calls all functions on one thread, except wake(), which any thread may
/// call.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Announces to all other members that this member has reached `operation`; the announcement contains the operation's
  /// request. The engine announces the operations of the group in their order. It announces each of them as soon as no
  /// unfinished earlier operation uses the same memory. Returns false if there is no room for the announcement yet; the
  /// engine then calls the function again later.
  virtual bool announce(const Operation& operation) = 0;

  /// Returns the request of another member for operation `operation.order` of the group, or null if that member has not
  /// reached this operation. The pointer is valid until finished() is called for the operation.
  virtual const Request* request_of(std::uint32_t member, const Operation& operation) const = 0;

  /// Records that the operation is finished at this member, so that the requests for it can be discarded.
  virtual void finished(const Operation& operation) = 0;

  /// Reports a failure to all other members. Each member keeps only the first failure that it detects or receives.
  virtual void tell(const Failure& failure) = 0;
  /// Returns a failure that another member has reported, or nothing if there is none.
  virtual std::optional<Failure> told() = 0;

  /// Receives the messages that have arrived, without waiting. An agreement that uses no messages need not override it.
  virtual void receive() {}

  /// Rests after a check without progress: yields the processor, or sleeps until another member makes progress or
  /// wake() is called, but no longer than `pause.most`. Returns false if it only yielded the processor; it has then not
  /// called `look_again`. Otherwise returns true, and the engine checks for failures.
  ///
  /// Before it sleeps, an implementation must call `look_again`, which makes the engine check once more, and sleep only
  /// if the result is false: true means that the engine has made progress or has failed. An implementation that could
  /// miss a wake-up must make it visible to the other members, before it calls `look_again`, that this member is about
  /// to sleep.
  virtual bool rest(const Pause& pause, const std::function<bool()>& look_again) = 0;

  /// Wakes this member if it sleeps in rest(). Any thread may call this function. An implementation must override it if
  /// the engine runs on a separate thread (Thread::kOwn).
  virtual void wake() {}

  /// Leaves the group. Waits until the other members have received everything that this member sent to them, but only
  /// for a limited time. If `failed` is true, the group has failed, and the limit is shorter, because some members may
  /// no longer receive anything. The default does nothing.
  virtual void leave(bool failed) { static_cast<void>(failed); }
};

/// The state of a member, as the other members see it.
enum class Presence : std::uint8_t {
  kHere,
  kLeft,  ///< The member has left the group normally.
  kLost,  ///< The member's process or connection is gone.
};

/// The answer of a member to a request for a sign of life.
struct Answer {
  bool waits = false;  ///< True if the member's caller waits for an operation, false if it does something else.
  std::optional<std::uint32_t> waits_for;  ///< The member that the caller waits for, if this is known.
};

/// The part of a backend that reports which members are still there and which of them merely wait for others. Blame
/// uses it to find the member that holds up the group. MeshAttendance is an implementation over sockets. All functions
/// are called by one thread.
class Attendance {
 public:
  virtual ~Attendance() = default;

  /// Returns whether a member is still there. If the result is kLeft or kLost, this member can see everything that the
  /// other member did before, at the latest after the next call of Agreement::receive().
  virtual Presence presence(std::uint32_t member) = 0;

  /// Returns a number that changes whenever the member does something for the group.
  virtual std::uint64_t signs(std::uint32_t member) const = 0;

  /// Sets the answer that this member gives to requests for a sign of life. While the member's caller waits for an
  /// operation, the engine calls this function about every 50 ms. A backend may count each of these calls as a sign of
  /// life.
  virtual void show(const Answer& answer) = 0;

  /// Asks all other members for a sign of life.
  virtual void probe() = 0;
  /// Returns the member's answer to the last probe(), or nothing if the member has not answered.
  virtual std::optional<Answer> answer(std::uint32_t member) const = 0;
};

}  // namespace trainyard::collectives
