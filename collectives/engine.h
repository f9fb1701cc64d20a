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

/// The core of every collective. It carries out the operations of one member of a group, lets the members compare what
/// they ask for, and finds out who is to blame when nothing goes on. The backend says how members agree, and moves the
/// elements. One thread calls it; a Driver says which.
///
/// After a failure nothing goes on any more, and failure() says why.
class Engine {
 public:
  struct Settings {
    std::string group;                  ///< The name of the group.
    std::vector<std::uint32_t> ranks;   ///< The rank in the run of every member.
    std::uint32_t own = 0;              ///< This member.
    std::chrono::milliseconds timeout;  ///< How long a silent member is waited for.
  };

  Engine(Settings settings, Backend backend);
  /// Leaves the group.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Takes an operation, and tells the others about it if that is possible at once. The first one has number 1.
  void take(Operation&& operation);
  bool finished(std::uint64_t number) { return queue_.find(number) == nullptr; }
  bool idle() const { return queue_.empty(); }

  /// Does what can be done without waiting. Returns true if anything moved.
  bool advance(Effort effort);

  /// Looks for what others have reported.
  void look_for_news();
  /// Looks for news and for members that are gone and, if `waited` is an operation, whether it has stood still for too
  /// long.
  void look(std::optional<std::uint64_t> waited);
  /// Records that the caller no longer waits.
  void stop_waiting();

  /// Called after nothing has moved; see Agreement::rest.
  bool rest(std::uint32_t looks, std::chrono::microseconds most);
  bool must_be_polled() const { return backend_.transport->must_be_polled(); }

  /// Ends the group. `tell` says that the others do not know yet.
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
  std::vector<char> occupied_;  ///< For each lane during advance(): whether its first operation is unfinished.
  std::string broken_;          ///< What a library threw. Meanwhile the engine looks for the member to blame.
  bool shows_waiting_ = false;
  std::optional<Failure> failure_;
};

}  // namespace trainyard::collectives
