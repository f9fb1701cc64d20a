#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collectives/data_plane.h"
#include "collectives/mesh.h"
#include "messages/error.h"

namespace trainyard {

/// Carries out the operations of one group in a thread of its own, so that they go on while their caller computes.
///
/// For each operation of the group every member tells all others what it was asked for. So all see at once who asked
/// for something else, who has not asked yet when the time is over, and who is lost; the data plane has only to move
/// data. Operations of the group run one after the other. A send and a recv wait only for earlier ones of their
/// direction between the same two members, and for earlier operations on the same memory.
class Engine {
 public:
  /// `plane` is connected.
  Engine(const CollectiveContext& context, std::unique_ptr<Mesh> mesh, std::unique_ptr<DataPlane> plane);
  /// Gives up what is under way.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Returns the number of the operation.
  std::uint64_t ask(Operation operation);
  void wait(std::uint64_t number);
  bool done(std::uint64_t number) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// An operation that is not finished.
  struct Active {
    Operation operation;
    bool started = false;
    bool agreed = false;
    Clock::time_point since;  ///< When it started.
    std::unique_ptr<Transfer> transfer;
  };
  /// Why the group is of no use any more.
  struct Failure {
    Code code;
    std::string finding;
  };
  struct Waiting {
    std::uint64_t number;
    Clock::time_point since;
  };

  void run();
  bool go_on();
  void take_asked();
  bool advance_all();
  /// An earlier one that must be finished before this one starts.
  const Active* blocker_of(const Active& active) const;
  void start(Active& active);
  bool advance(Active& active);
  bool advance_direct(Active& active);
  bool agree(Active& active);
  void abandon();
  void finish(std::uint64_t number);

  // Finding out what is wrong: engine_failures.cpp.
  std::vector<std::uint32_t> missing(const Active& active) const;
  void look_for_news();
  void look_for_lost();
  void look_at_clock();
  void transfer_broke(const Active& active, const std::string& text);
  void ping_all();
  std::vector<std::uint32_t> without_pong(const std::vector<std::uint32_t>& members) const;
  void name_silent(const Active& active, std::chrono::milliseconds waited);
  void fail(Code code, const std::string& finding, bool tell = true);
  std::string ranks_of(const std::vector<std::uint32_t>& members) const;
  std::string describe_operation(const Active& active) const;
  std::vector<std::uint32_t> others() const;

  const CollectiveContext context_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<DataPlane> plane_;

  // Of the engine's thread alone.
  std::list<Active> active_;  ///< In the order in which they were asked for.
  std::uint64_t pings_ = 0;
  std::optional<Clock::time_point> pinged_;
  std::string broken_;  ///< What a transfer threw; meanwhile the guilty one is looked for.

  mutable std::mutex mutex_;  ///< Of what follows.
  std::condition_variable changed_;
  std::deque<Operation> asked_;
  std::set<std::uint64_t> unfinished_;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> common_numbers_;
  std::uint64_t next_number_ = 0;
  std::optional<Waiting> waiting_;
  std::optional<Failure> failure_;
  std::atomic<bool> stop_ = false;

  std::thread thread_;
};

}  // namespace trainyard
