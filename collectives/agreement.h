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
  std::string text;  ///< The text names the rank to blame. It is the same at every member.
};

/// Describes a pause of a member that has nothing to do.
struct Pause {
  const OperationQueue& queue;        ///< The unfinished operations of this member.
  std::uint32_t looks = 1;            ///< The number of consecutive checks without progress.
  std::chrono::microseconds most{0};  ///< The maximum time that the member may sleep.
};

/// Informs the members of a group about each other's operations and failures. Each backend supplies an implementation;
/// MeshAgreement uses sockets. All functions except wake() are called by one thread.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Tells all members that this one has reached an operation of the group, and which one it is. It is called in the
  /// order of the operations, as soon as the memory of the operation may be used. Returns false if there is no room for
  /// the announcement yet; it is then called again.
  virtual bool announce(const Operation& operation) = 0;

  /// Returns the request of another member for operation `operation.order` of the group, or null if that member has not
  /// reached it. The pointer is valid until finished().
  virtual const Request* request_of(std::uint32_t member, const Operation& operation) const = 0;

  /// Called when the operation is finished at this member, so that its requests can be discarded.
  virtual void finished(const Operation& operation) = 0;

  /// Tells all members about a failure. Only the first one counts.
  virtual void tell(const Failure& failure) = 0;
  /// Returns a failure that another member has reported, or nothing.
  virtual std::optional<Failure> told() = 0;

  /// Receives the messages that have arrived. It never waits.
  virtual void receive() {}

  /// Yields the processor, or sleeps until something arrives, but no longer than `pause.most`. It is called after a
  /// check without progress. An implementation that could miss a wake-up must first announce that it will sleep and
  /// then call `look_again`; if that returns true, it must not sleep. Returns false if it only yielded.
  virtual bool rest(const Pause& pause, const std::function<bool()>& look_again) = 0;

  /// Ends the sleep of this member, from any thread. Needed only if the engine runs on its own thread.
  virtual void wake() {}

  /// Leaves the group. Returns when the other members have received everything that this member sent them. If `failed`
  /// is true, the group has failed, and it returns sooner, because some members may no longer receive anything.
  virtual void leave(bool failed) { static_cast<void>(failed); }
};

/// Whether a member is still there.
enum class Presence : std::uint8_t {
  kHere,
  kLeft,  ///< The member has left the group normally.
  kLost,  ///< The member's process or connection is gone.
};

/// The answer of a member to a request for a sign of life.
struct Answer {
  bool waits = false;  ///< True if the member's caller waits for an operation, false if it does something else.
  std::optional<std::uint32_t> waits_for;  ///< The member for which the caller waits, if this is known.
};

/// Says which members are still there and which of them merely wait for others. Blame uses this. Each backend supplies
/// an implementation; MeshAttendance uses sockets. It is called by one thread.
class Attendance {
 public:
  virtual ~Attendance() = default;

  /// Returns whether a member is still there. If the member has left or is lost, everything that it did before is
  /// visible now or at the next check.
  virtual Presence presence(std::uint32_t member) = 0;

  /// Returns a number that changes whenever that member does something for the group.
  virtual std::uint64_t signs(std::uint32_t member) const = 0;

  /// Sets the answer of this member from now on. While a member waits, its engine must call this at least every 50 ms;
  /// backends may count these calls as signs of life.
  virtual void show(const Answer& answer) = 0;

  /// Asks all members for a sign of life.
  virtual void probe() = 0;
  /// Returns what the member has answered since the last probe, or nothing if it has not answered.
  virtual std::optional<Answer> answer(std::uint32_t member) const = 0;
};

}  // namespace trainyard::collectives
