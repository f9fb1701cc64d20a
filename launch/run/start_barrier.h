// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace trainyard::launch {

/// Tracks the stage of each process during the start. No component is activated before every process has passed all
/// stages, so every receiver exists before the first message.
class StartBarrier {
 public:
  enum class Stage {
    kStarting,     ///< It has started; its Hello is awaited.
    kConfiguring,  ///< It has its plan; its Configured is awaited.
    kConfigured,   ///< It waits for the others.
    kConnecting,   ///< It has every endpoint; its Connected is awaited.
    kConnected,
  };
  using Endpoints = std::map<std::string, std::string>;

  /// All processes begin at the first stage. External programs are not among them.
  explicit StartBarrier(const std::vector<std::string>& processes);

  /// `process` must be one of the processes that the constructor was given.
  Stage stage(const std::string& process) const { return stages_.at(process); }
  void set_stage(const std::string& process, Stage stage) { stages_.at(process) = stage; }

  /// Records the endpoints that a process has bound.
  void configured(const std::string& process, const Endpoints& endpoints);

  /// Records that a process has ended: it is at the first stage again, and its endpoints are no longer valid.
  void reset(const std::string& process);

  /// Returns true if every process has reached this stage or a later one.
  bool all_at_least(Stage stage) const;

  /// Returns the endpoints of all processes, by "process/thread" and "process/gateway".
  Endpoints endpoints() const;

  /// Returns one entry for each process that has not arrived, such as "process 'optimizer' did not connect its inputs
  /// (no Connected)".
  std::vector<std::string> missing() const;

 private:
  std::map<std::string, Stage> stages_;
  std::map<std::string, Endpoints> endpoints_;  ///< Indexed by process.
};

}  // namespace trainyard::launch
