// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "archive/launch_record.h"
#include "core/plugin/plugin_info.h"
#include "core/transport/admission.h"
#include "core/transport/run_keys.h"
#include "launch/plan/plan.h"
#include "launch/run/call_table.h"
#include "launch/run/control_channel.h"
#include "launch/run/crew.h"
#include "launch/run/directory_lock.h"
#include "launch/run/guard.h"
#include "launch/run/poll_loop.h"
#include "launch/run/run_console.h"
#include "launch/run/run_directory.h"
#include "launch/run/run_phase.h"
#include "launch/run/start_barrier.h"
#include "launch/run/transition_sequence.h"

namespace trainyard::launch {

class HostDoor;

/// The settings of a launch that are not part of the plan.
struct LaunchOptions {
  std::string base = visitors::runs_directory();    ///< The directory that contains the run directories.
  std::string process_program;                      ///< The path of `trainyard-process`.
  std::vector<std::string> plugin_path;             ///< The directories that processes load plugins from.
  std::map<std::string, core::PluginInfo> plugins;  ///< The declarations of the components' plugins, by name.
  archive::Versions versions;                       ///< What this installation consists of, for the run's record.
  std::chrono::milliseconds rung{2'000};            ///< The time from SIGINT to SIGTERM, and from SIGTERM to SIGKILL.
  std::chrono::milliseconds silence{30'000};        ///< A process that sends nothing for this long is reported.
  /// A program, such as a profiler, and its arguments, under which `wrapped_process` is started; empty if no process is
  /// wrapped.
  std::vector<std::string> wrapper;
  std::string wrapped_process;  ///< The name of the process that `wrapper` wraps.
  /// Signals that the engine (the program that has started the launcher, such as Slurm) sends not only to the launcher
  /// but also to every process of the run. The processes are started so that they ignore these signals (external
  /// programs do not ignore SIGTERM), because only the launcher decides when they end.
  std::vector<int> engine_signals;
  /// Signals that arrive within this time after the first one count as a single request to stop.
  std::chrono::milliseconds same_request{250};
  /// How long the run may wait for a process that a signal has stopped.
  std::chrono::milliseconds stopped{60'000};
  HostDoor* hosts = nullptr;  ///< The connections to the other hosts, which have all joined; null if there are none.
};

/// The state of a run that the parts of the launcher share. They all run on one thread. The order of the members
/// matters, because later members use earlier ones, and because the sockets must be closed before the directory that
/// contains them is removed.
struct RunContext {
  /// Makes the run directory and the lock file, after telling `guard` about them, and binds the control channel. Starts
  /// no process. `plan`, `options` and `guard` must outlive this object.
  RunContext(const Plan& plan, const LaunchOptions& options, const GuardLink& guard, Crew::Reports reports);

  const Plan& plan;
  const LaunchOptions& options;
  const GuardLink& guard;
  PollLoop loop;
  RunConsole console;
  RunDirectory directory;
  std::vector<RunPlace> places;  ///< The parts of the plan that differ between hosts, indexed by host.
  DirectoryLock output;          ///< Keeps other runs out of the plan's output directory.
  core::RunKeys keys;
  zmq::context_t sockets;
  core::Admission admission;
  CallTable calls;
  ControlChannel control;
  Crew crew;
  StartBarrier barrier;
  ComponentStates states;
  RunProgress progress;
  /// The number of pauses that are in effect. A call of a component's service "pause" begins one, and a call of "go_on"
  /// ends one.
  std::uint32_t pauses = 0;

  /// Returns the name of the process that runs a component.
  std::string process_of(std::uint32_t component) const { return plan.components[component].process; }

  /// Returns the indices of the components in a process, in the order of activation.
  std::vector<std::uint32_t> components_of(const std::string& process) const;

  /// Sends a message to every running process with components, except to the process named `except`.
  template <Message T>
  void send_to_all(const T& message, const std::string& except = {}) {
    for (const auto& child : crew.children()) {
      if (child->has_components() && child->running() && child->name() != except) control.send(child->name(), message);
    }
  }

  /// Returns what a component declares, or null if the launcher does not know it.
  const core::PluginInfo* declaration_of(const ComponentPlan& component) const;

  /// Asks a component to change to the state `state`.
  void ask(std::uint32_t component, State state);

  /// Calls a method of a component, or of the process itself if `component` is empty. `body` contains the arguments as
  /// JSON. `answer` receives the answer, or an error if the process ends or does not answer by the deadline. If the
  /// process is not connected, `answer` is called before this function returns.
  void call(const std::string& process, const std::string& component, const std::string& method,
            const std::string& body, std::chrono::milliseconds deadline, CallTable::Answer answer);
};

/// Returns a human-readable name of a component: "component 'rank0/optimizer' (process trainer, plugin optimizer)".
std::string describe_component(const ComponentPlan& component);

/// Returns a human-readable name of a process: "process 'main' (optimizer, logger)" or "program 'viewer'".
std::string describe_process(const RunContext& run, const ChildProcess& child);

}  // namespace trainyard::launch
