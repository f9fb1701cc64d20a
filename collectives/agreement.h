#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "collectives/operation.h"
#include "messages/error.h"

namespace trainyard::collectives {

struct QueuedOperation;

/// Why a group is of no use any more.
struct Failure {
  Code code = Code::kInternal;
  std::string text;  ///< Names the rank to blame. The same at every member.
};

/// What a member that has nothing to do knows about its pause.
struct Pause {
  const QueuedOperation* first = nullptr;  ///< The first unfinished operation of the group; null if there is none.
  std::uint32_t looks = 1;                 ///< How many times in a row nothing has moved.
  std::chrono::microseconds most{0};       ///< The longest that it may sleep.
};

/// How the members of a group learn of each other's operations and failures. A backend supplies one; MeshAgreement does
/// it over sockets. Except for wake(), one thread calls.
class Agreement {
 public:
  virtual ~Agreement() = default;

  /// Tells all members that this one has come to an operation of the group, and what it asks for. Called in the order
  /// of the operations, as early as the memory of the operation is ready. False if there is no room to say so yet; it
  /// is then called again.
  virtual bool announce(const Operation& operation) = 0;

  /// What another member asked for as operation `operation.order` of the group; null if it has not come to it. Valid
  /// until finished().
  virtual const Request* request_of(std::uint32_t member, const Operation& operation) const = 0;

  /// The operation is over at this member, and its requests are no longer needed.
  virtual void finished(const Operation& operation) = 0;

  /// Tells all members of a failure. Only the first one counts.
  virtual void tell(const Failure& failure) = 0;
  /// A failure that another member has told of.
  virtual std::optional<Failure> told() = 0;

  /// Takes in what has come. Never waits.
  virtual void receive() {}

  /// Nothing has moved: gives way, or sleeps until something comes, but no longer than `pause.most`. A member about to
  /// sleep calls `look_again` once after others can see that it must be woken; if that returns true, it does not sleep.
  /// Returns true if it slept.
  virtual bool rest(const Pause& pause, const std::function<bool()>& look_again) = 0;

  /// Ends a sleep of this member, from any thread. Only an agreement whose engine has a thread of its own needs it.
  virtual void wake() {}

  /// This member leaves. Returns when the others have what it told them, as far as they take it. `failed`: the group
  /// has failed, so that some may not.
  virtual void leave(bool failed) { static_cast<void>(failed); }
};

enum class Presence : std::uint8_t {
  kHere,
  kLeft,  ///< It gave up the group in good order.
  kLost,  ///< Its process is gone, or its connection.
};

/// What a member says when it is asked for a sign of life.
struct Answer {
  bool waits = false;                      ///< Its caller waits for an operation; otherwise it does something else.
  std::optional<std::uint32_t> waits_for;  ///< The member that it waits for, if it knows.
};

/// Who is still there, and who only waits for somebody else: what blame is based on. A backend supplies one;
/// MeshAttendance does it over sockets. One thread calls.
class Attendance {
 public:
  virtual ~Attendance() = default;

  /// Everything that a member did before it left or was lost is here by the time that this says so, or becomes visible
  /// with the next look.
  virtual Presence presence(std::uint32_t member) = 0;

  /// A number that changes when that member does something for the group.
  virtual std::uint64_t signs(std::uint32_t member) const = 0;

  /// What this member answers from now on. A member that waits repeats it at least every 50 ms.
  virtual void show(const Answer& answer) = 0;

  /// Asks all members for a sign of life.
  virtual void probe() = 0;
  /// What the member has answered since the last probe; nothing if it has not.
  virtual std::optional<Answer> answer(std::uint32_t member) const = 0;
};

}  // namespace trainyard::collectives
