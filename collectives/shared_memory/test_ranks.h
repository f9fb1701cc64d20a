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

/// What a rank does with its collective, and what it says afterwards.
using RankBody = std::function<std::string(Collective&)>;

/// Runs ranks 0 to count - 1 as threads of this process. Returns what each said, or the error that it threw.
std::vector<std::string> on_threads(std::uint32_t count, const RankBody& body, const RankOptions& options = {});

/// Waits for a file, by which a rank tells where it is; false if it does not come.
bool wait_for_note(const std::string& path);

/// The same as processes. To be made while this process has one thread.
class RankProcesses {
 public:
  RankProcesses(std::uint32_t count, const RankBody& body, const RankOptions& options = {});
  /// Kills those that are left.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t pid(std::uint32_t rank) const { return pids_[rank]; }
  /// What the rank said; empty if it ended otherwise. Waits for it.
  std::string said(std::uint32_t rank);

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> pids_;
};

}  // namespace trainyard::testing
