// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// The calls that have been sent to processes and have not been answered yet. A call ends with its answer, at its
/// deadline, or when the process ends, whichever comes first.
class CallTable {
 public:
  /// Receives the answer to a call: `body` is the result if `ok` is true, and otherwise the text of an error.
  using Answer = std::function<void(bool ok, const std::string& body)>;

  explicit CallTable(PollLoop& loop) : loop_(loop) {}
  /// Discards the open calls without an answer, because the callers end with the run, too.
  ~CallTable();
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  /// Records a call to `process` and returns a new id, with which the caller of this function must send the call. When
  /// the call ends, at the latest after the time `deadline`, `answer` receives the result or, with `ok` false, an
  /// error. `what` names the call in errors, such as "'param.set' of component 'optimizer'".
  std::uint64_t open(const std::string& process, const std::string& what, std::chrono::milliseconds deadline,
                     Answer answer);

  /// Passes an answer to the call with this id. An answer to an unknown call, or to one that has already ended, is
  /// ignored.
  void answered(std::uint64_t id, bool ok, const std::string& body);

  /// Ends every call to a process that has died, with an error.
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
