// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "collectives/backend.h"
#include "collectives/blame.h"
#include "collectives/findings.h"
#include "collectives/operation_queue.h"

namespace trainyard::collectives {

/// Carries out the operations of one member of a group ("this member"): announces them to the other members, checks
/// that all members called the same operation, and transfers the data through a Backend. If there is no progress, the
/// engine determines which member is to blame. All functions are called on one thread, which the Driver chooses.
///
/// After a failure, no operation makes further progress, and failure() returns the reason.
class Engine {
 public:
  struct Settings {
    std::string group;                  ///< The name of the group.
    std::vector<std::uint32_t> ranks;   ///< For each member, its rank in the run.
    std::uint32_t own = 0;              ///< The index of this member.
    std::chrono::milliseconds timeout;  ///< How long to wait for a member that does not respond.
  };

  Engine(Settings settings, Backend backend);
  /// Cancels unfinished operations and leaves the group.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds an operation. Operations are numbered from 1, in the order of the calls. Unless the operation must wait for
  /// an earlier one, the function immediately announces it to the other members or, for a send, begins to send. A recv
  /// begins only in advance().
  void take(Operation&& operation);
  bool finished(std::uint64_t number) { return queue_.find(number) == nullptr; }
  bool idle() const { return queue_.empty(); }

  /// Makes as much progress as possible without waiting. `effort` determines how much of the shared work this member
  /// does (see Effort). Returns true if there was any progress, or if the engine failed during the call.
  bool advance(Effort effort);

  /// Checks whether another member has reported a failure. If so, this engine fails with the same failure. look() does
  /// this, too.
  void look_for_news();
  /// Makes this engine fail if another member has reported a failure, or if a member that an operation needs is gone.
  /// `waited` is the number of the operation that the caller waits for, if any. If it is given, the function also tells
  /// the other members that the caller waits, and the engine fails if the operation has made no progress for the length
  /// of the timeout.
  void look(std::optional<std::uint64_t> waited);
  /// Returns a member that operation number `waited` waits for. Returns nothing if the operation waits for no member,
  /// or if the member is unknown.
  std::optional<std::uint32_t> waits_for(std::uint64_t waited);
  /// Returns the rank of a member in the run.
  std::uint32_t rank_of(std::uint32_t member) const { return settings_.ranks[member]; }
  /// Must be called when the caller no longer waits. If look() has told the other members that the caller waits, tells
  /// them that it no longer does.
  void stop_waiting();

  /// Yields the processor, or sleeps for at most `most` until there is something to do. `looks` is the number of
  /// consecutive calls to advance() that have made no progress. Returns the result of Agreement::rest().
  bool rest(std::uint32_t looks, std::chrono::microseconds most);
  bool must_be_polled() const { return backend_.transport->must_be_polled(); }

  /// Makes this engine fail. If `tell` is true, the engine also reports the failure to the other members, so that the
  /// whole group fails. Pass false for a failure that another member has reported. Does nothing if the engine has
  /// already failed.
  void fail(const Failure& failure, bool tell = true);
  const std::optional<Failure>& failure() const { return failure_; }
  const Findings& findings() const { return findings_; }
  Backend& backend() { return backend_; }

 private:
  bool go_on(QueuedOperation& queued, Effort effort);
  bool announce(QueuedOperation& queued);
  bool advance_group(QueuedOperation& queued, Effort effort);
  bool advance_message(QueuedOperation& queued, Effort effort);
  bool agree(QueuedOperation& queued);
  bool transfer(QueuedOperation& queued, Transport& transport, Effort effort);
  void library_broke(const QueuedOperation& queued, const std::string& text);
  std::optional<std::vector<std::uint32_t>> missing(const QueuedOperation& queued) const;
  void give_up();
  void look_for_lost();
  void look_at_clock(std::uint64_t waited);

  const Settings settings_;
  const Findings findings_;
  Backend backend_;
  Blame blame_;
  const Begins begins_;
  OperationQueue queue_;
  std::vector<std::uint32_t> others_;
  /// Used by advance(): 1 for each lane (see OperationQueue) with an unfinished operation.
  std::vector<char> occupied_;
  /// The text of an exception that a library threw. Reported once the other members have had time to answer a probe.
  std::string broken_;
  bool shows_waiting_ = false;
  std::optional<Failure> failure_;
};

}  // namespace trainyard::collectives
