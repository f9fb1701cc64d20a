#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// Requests that were sent to processes and are not answered yet. Every one ends: with its answer, with its deadline,
/// or with the process it was sent to.
class CallTable {
 public:
  using Answer = std::function<void(bool ok, const std::string& body)>;

  explicit CallTable(PollLoop& loop) : loop_(loop) {}
  /// Open calls are dropped without an answer: who waits for them goes with the run.
  ~CallTable();
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  /// A fresh number for a request to `process`. `what` names it in the error: "param.set of component 'optimizer'".
  std::uint64_t open(const std::string& process, const std::string& what, std::chrono::milliseconds deadline,
                     Answer answer);

  /// An answer has come; an unknown (late) one is ignored.
  void answered(std::uint64_t id, bool ok, const std::string& body);

  /// Everything asked of a process that is dead fails.
  void process_gone(const std::string& process);

 private:
  struct Call {
    std::string process;
    std::string what;
    Answer answer;
    PollLoop::Id timer = 0;
  };

  PollLoop& loop_;
  std::map<std::uint64_t, Call> calls_;
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::launch
