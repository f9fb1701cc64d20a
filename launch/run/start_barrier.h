// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace trainyard::launch {

/// The stages that the processes with components have reached during the start. No component is activated before all
/// processes have reached the last stage, so every receiver exists before the first message is sent. Hello, Configured
/// and Connected are messages of a process to the launcher (messages/control.h).
class StartBarrier {
 public:
  enum class Stage {
    kStarting,     ///< The process has been started; its Hello is awaited.
    kConfiguring,  ///< Its plan has been sent; its Configured is awaited.
    kConfigured,   ///< It has configured its components, and waits for the other processes.
    kConnecting,   ///< The endpoints of all processes have been sent to it; its Connected is awaited.
    kConnected,    ///< It has connected its inputs.
  };
  using Endpoints = std::map<std::string, std::string>;

  /// `processes` are the names of the processes with components. All of them begin at the first stage.
  explicit StartBarrier(const std::vector<std::string>& processes);

  /// Returns the stage of a process. `process` must be one of the names that the constructor was given; this also
  /// applies to the functions below.
  Stage stage(const std::string& process) const { return stages_.at(process); }
  void set_stage(const std::string& process, Stage stage) { stages_.at(process) = stage; }

  /// Records the endpoints that a process has bound, and sets its stage to kConfigured.
  void configured(const std::string& process, const Endpoints& endpoints);

  /// Records that a process has ended. Its stage becomes the first stage again, and its endpoints are removed.
  void reset(const std::string& process);

  /// Returns true if every process has reached this stage or a later one.
  bool all_at_least(Stage stage) const;

  /// Returns the addresses that all processes have bound, under the keys of Configured::endpoints: one for each thread
  /// that sends to other processes, and one for the gateway of each process, which serves visitors (programs outside of
  /// the plan).
  Endpoints endpoints() const;

  /// Returns the endpoints of one process, which are empty until it has bound them.
  Endpoints endpoints_of(const std::string& process) const;

  /// Returns a text for each process whose message is still awaited, such as "process 'optimizer' did not connect its
  /// inputs (no Connected)".
  std::vector<std::string> missing() const;

 private:
  std::map<std::string, Stage> stages_;
  /// The addresses that each process has bound, by the name of the process.
  std::map<std::string, Endpoints> endpoints_;
};

}  // namespace trainyard::launch
