// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "launch/hosts/host_link.h"
#include "launch/hosts/host_settings.h"
#include "launch/hosts/knock.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"

namespace trainyard::launch {

/// An agent's search for host 0, which listens at one of the ports of the meeting place. The search tries all of them
/// until one accepts the agent.
class HostSearch {
 public:
  struct Reports {
    /// Host 0 has accepted this agent, at the other end of the link.
    std::function<void(HostLink& link, std::chrono::milliseconds silence)> accepted;
    /// Host 0 has refused this agent, or has not been found in time.
    std::function<void(const std::string& reason)> failed;
  };

  /// Begins to search on `loop`. All arguments must outlive this object.
  HostSearch(PollLoop& loop, RunConsole& console, zmq::context_t& context, const HostSettings& settings,
             Reports reports);
  ~HostSearch();
  HostSearch(const HostSearch&) = delete;
  HostSearch& operator=(const HostSearch&) = delete;

 private:
  void try_again();
  // Says what keeps this host from joining, if it is time to. A while before, it begins to find out.
  void remind(PollLoop::Clock::time_point now);
  // Returns a text about what keeps this host from joining, for the user.
  std::string state();
  void open_links();
  void ask(PollLoop::Clock::time_point now);
  void on_answer(HostLink& link, const JoinAnswer& answer);

  PollLoop& loop_;
  RunConsole& console_;
  zmq::context_t& context_;
  const HostSettings& settings_;
  Reports reports_;
  std::vector<PollLoop::Clock::time_point> asked_;  ///< When each link last carried a Join.
  PollLoop::Clock::time_point resolve_again_;       ///< When the name of host 0 is looked up again.
  std::string problem_;                             ///< Why host 0 cannot be looked for, if that is known.
  bool heard_other_job_ = false;                    ///< True if a launcher that belongs to another job has answered.
  std::optional<Knock> knock_;                      ///< Set from a while before a reminder.
  Join join_;
  std::vector<std::unique_ptr<HostLink>> links_;  ///< One for each port; empty until the name of host 0 is resolved.
  PollLoop::Clock::time_point deadline_;
  PollLoop::Clock::time_point remind_;
  PollLoop::Id timer_ = 0;
  bool done_ = false;
};

}  // namespace trainyard::launch
