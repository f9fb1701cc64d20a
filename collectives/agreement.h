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

/// Why a group can no longer be used.
struct Failure {
  Code code = Code::kInternal;
  std::string text;  ///< Names the rank to blame. It is the same at every member.
};

/// What a member that has nothing to do knows about its pause.
struct Pause {
  const OperationQueue& queue;        ///< What this member has not finished.
  std::uint32_t looks = 1;            ///< How many times in a row nothing has moved.
  std::chrono::microseconds most{0};  ///< The longest time that it may sleep.
};

/// How the members of a group learn about each other's operations and failures. A backend supplies one; MeshAgreement
/// does it over sockets. Except for wake(), one thread calls it.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Tells all members that this one has come to an operation of the group, and what it asks for. It is called in the
  /// order of the operations, as early as the memory of the operation is ready. Returns false if there is no room to
  /// say so yet; it is then called again.
  virtual bool announce(const Operation& operation) = 0;

  /// What another member asked for as operation `operation.order` of the group, or null if it has not come to it. Valid
  /// until finished().
  virtual const Request* request_of(std::uint32_t member, const Operation& operation) const = 0;

  /// The operation is over at this member, and its requests are no longer needed.
  virtual void finished(const Operation& operation) = 0;

  /// Tells all members about a failure. Only the first one counts.
  virtual void tell(const Failure& failure) = 0;
  /// A failure that another member has reported.
  virtual std::optional<Failure> told() = 0;

  /// Takes in what has come. It never waits.
  virtual void receive() {}

  /// Called when nothing has moved: gives way to others, or sleeps until something comes, but no longer than
  /// `pause.most`. A member that is about to sleep calls `look_again` once, after the others can see that it must be
  /// woken; if that returns true, it does not sleep. Returns true if it slept.
  virtual bool rest(const Pause& pause, const std::function<bool()>& look_again) = 0;

  /// Ends a sleep of this member, from any thread. Only an agreement whose engine has a thread of its own needs it.
  virtual void wake() {}

  /// Leaves the group. Returns when the others have received what this member told them, as far as they accept it.
  /// `failed` says that the group has failed, so that some may not.
  virtual void leave(bool failed) { static_cast<void>(failed); }
};

enum class Presence : std::uint8_t {
  kHere,
  kLeft,  ///< It has left the group in good order.
  kLost,  ///< Its process or its connection is gone.
};

/// What a member says when it is asked for a sign of life.
struct Answer {
  bool waits = false;  ///< True if its caller waits for an operation; otherwise the caller does something else.
  std::optional<std::uint32_t> waits_for;  ///< The member for which it waits, if it knows.
};

/// Who is still there, and who only waits for somebody else, which is the basis for blame. A backend supplies one;
/// MeshAttendance does it over sockets. One thread calls it.
class Attendance {
 public:
  virtual ~Attendance() = default;

  /// Whether a member is there. When this says that it has left or is lost, everything that it did before is here, or
  /// becomes visible with the next look.
  virtual Presence presence(std::uint32_t member) = 0;

  /// A number that changes when that member does something for the group.
  virtual std::uint64_t signs(std::uint32_t member) const = 0;

  /// Sets what this member answers from now on. A member that waits repeats it at least every 50 ms.
  virtual void show(const Answer& answer) = 0;

  /// Asks all members for a sign of life.
  virtual void probe() = 0;
  /// What the member has answered since the last probe; empty if it has not answered.
  virtual std::optional<Answer> answer(std::uint32_t member) const = 0;
};

}  // namespace trainyard::collectives
