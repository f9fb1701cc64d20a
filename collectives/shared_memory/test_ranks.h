// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "collectives/shared_memory/shared_memory.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::testing {

struct RankOptions {
  std::chrono::milliseconds timeout{20'000};
  std::string parameters = "{}";
};

/// The function that each rank of a test runs with its collective. It returns a text that the test can check.
using RankBody = std::function<std::string(Collective&)>;

/// Runs `body` for the ranks 0 to count - 1 as threads of this process. Returns, for each rank, the text that `body`
/// returned or the text of the error that it threw.
std::vector<std::string> on_threads(std::uint32_t count, const RankBody& body, const RankOptions& options = {});

/// Waits until a rank creates the file `path`. Returns false if the file does not appear within 30 s.
bool wait_for_note(const std::string& path);

/// Ranks that run as forked processes. The object must be constructed while this process has only one thread.
class RankProcesses {
 public:
  RankProcesses(std::uint32_t count, const RankBody& body, const RankOptions& options = {});
  /// Kills the processes that are still running.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t pid(std::uint32_t rank) const { return pids_[rank]; }
  /// Waits for the rank to end and returns the text that its function returned, or the text of the error that it threw.
  /// Returns an empty string if the process ended in another way, for instance because it was killed. May be called
  /// only once for each rank.
  std::string said(std::uint32_t rank);

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> pids_;
};

}  // namespace trainyard::testing
