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

/// What a rank does with its collective; it returns what the rank says afterwards.
using RankBody = std::function<std::string(Collective&)>;

/// Runs the ranks 0 to count - 1 as threads of this process. Returns what each said, or the error that it threw.
std::vector<std::string> on_threads(std::uint32_t count, const RankBody& body, const RankOptions& options = {});

/// Waits for a file by which a rank tells where it is. Returns false if it does not come.
bool wait_for_note(const std::string& path);

/// Runs the ranks as processes. Must be constructed while this process has one thread.
class RankProcesses {
 public:
  RankProcesses(std::uint32_t count, const RankBody& body, const RankOptions& options = {});
  /// Kills those that are left.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t pid(std::uint32_t rank) const { return pids_[rank]; }
  /// What the rank said, for which it waits; empty if the rank ended in another way.
  std::string said(std::uint32_t rank);

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> pids_;
};

}  // namespace trainyard::testing
