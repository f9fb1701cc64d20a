// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// The requests that were sent to processes and are not answered yet. Every request ends with its answer, at its
/// deadline, or when its process ends.
class CallTable {
 public:
  using Answer = std::function<void(bool ok, const std::string& body)>;

  explicit CallTable(PollLoop& loop) : loop_(loop) {}
  /// Drops open calls without an answer, because the callers end with the run.
  ~CallTable();
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  /// Opens a call to `process` and returns its new number. `what` names the call in errors, such as "param.set of
  /// component 'optimizer'".
  std::uint64_t open(const std::string& process, const std::string& what, std::chrono::milliseconds deadline,
                     Answer answer);

  /// Passes on an answer. An answer to an unknown (or late) call is ignored.
  void answered(std::uint64_t id, bool ok, const std::string& body);

  /// Makes every call to a dead process fail.
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
