// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard::launch {

// The messages between the launcher, which is on host 0, and the agents, of which every other host has one. They are
// sent as two frames: the name of the type, and the binary body. docs/decisions/0033 explains the protocol.

/// The version of the protocol between launcher and agents. Hosts with different versions cannot take part in the same
/// run.
inline constexpr std::uint32_t kHostProtocol = 3;

/// The first message of an agent. It identifies the agent's host, and contains everything that must be the same on all
/// hosts. The agent repeats the message until the launcher answers.
struct Join {
  static constexpr const char* kTypeName = "Join";

  std::uint32_t protocol = kHostProtocol;
  std::uint32_t host = 0;   ///< The number of the agent's host.
  std::uint32_t hosts = 1;  ///< The number of hosts of the run, according to the agent's own plan.
  std::string host_name;
  /// A text that is the same on all hosts. If the engine (such as Slurm) names its jobs, the text distinguishes this
  /// attempt of the job from all other attempts and jobs.
  std::string job;
  std::string address;        ///< The agent's own address on the connection to host 0.
  std::string reached;        ///< The address of host 0 to which the agent has connected.
  std::string run_directory;  ///< The directory on the agent's host for the sockets and notes of its processes.
  std::vector<std::string> plugin_path;  ///< The directories from which the processes of the agent's host load plugins.
  std::string version;                   ///< The ABI tag of the agent's program (core/plugin/abi.h).
  std::string file;                      ///< The path of the launch file, for errors.
  std::string content;                   ///< A fingerprint of the launch file and of all files that it includes.
  std::vector<std::string> arguments;    ///< The words of the command line.
  /// One line for every plugin of the installation, with its kind, name, version and ABI tag, and one line with the
  /// path of the library for every plugin that is a component of the plan.
  std::vector<std::string> plugins;
  std::string processor;  ///< A description of the processor, as describe_processor() returns it.
  /// What the planner has decided where the launch file left the choice open, such as "devices = 2".
  std::vector<std::string> choices;
  std::int64_t clock_ns = 0;  ///< The time of the agent's clock when it sent this message, in nanoseconds since 1970.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(protocol), CEREAL_NVP(host), CEREAL_NVP(hosts), CEREAL_NVP(host_name), CEREAL_NVP(job),
            CEREAL_NVP(address), CEREAL_NVP(reached), CEREAL_NVP(run_directory), CEREAL_NVP(plugin_path),
            CEREAL_NVP(version), CEREAL_NVP(file), CEREAL_NVP(content), CEREAL_NVP(arguments), CEREAL_NVP(plugins),
            CEREAL_NVP(processor), CEREAL_NVP(choices), CEREAL_NVP(clock_ns));
  }
};

/// The launcher's answer to a Join.
struct JoinAnswer {
  static constexpr const char* kTypeName = "JoinAnswer";

  bool accepted = false;
  bool other_job = false;  ///< True if the launcher belongs to another job. The agent must then try the other ports.
  std::string reason;      ///< Why the agent is refused; empty if it is accepted, or if `other_job` is true.
  std::uint64_t silence_ms = 0;  ///< The time without messages after which each side counts the other as lost.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(accepted), CEREAL_NVP(other_job), CEREAL_NVP(reason), CEREAL_NVP(silence_ms));
  }
};

/// A process that an agent (the process that acts for the launcher on another host) is to start; see PlannedProcess.
struct HostProcess {
  static constexpr const char* kTypeName = "HostProcess";

  std::uint32_t index = 0;
  std::string name;
  std::vector<std::string> command;
  bool member = false;
  std::string parameters;
  std::map<std::string, std::string> environment;
  std::vector<std::uint32_t> cpus;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(name), CEREAL_NVP(command), CEREAL_NVP(member), CEREAL_NVP(parameters),
            CEREAL_NVP(environment), CEREAL_NVP(cpus));
  }
};

/// The entrance to the gateway of a process on another host; see Tunnels.
struct Entrance {
  static constexpr const char* kTypeName = "Entrance";

  std::uint32_t process = 0;  ///< The index of the process in the plan.
  std::uint32_t host = 0;     ///< The host of the process.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(host));
  }
};

/// The part of the run on the host of an agent: the processes that it is to start, and the settings that they need. The
/// launcher sends it when all hosts have joined.
struct HostPart {
  static constexpr const char* kTypeName = "HostPart";

  std::string run;      ///< The name of the run.
  std::string keys;     ///< The keys of the run, as RunKeys::text() returns them.
  std::string control;  ///< The address at which the launcher accepts the control connections of processes.
  bool flush_denormals = true;
  std::vector<HostProcess> processes;
  /// The entrances that the agent makes on its host, to the gateways of processes on other hosts.
  std::vector<Entrance> entrances;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(run), CEREAL_NVP(keys), CEREAL_NVP(control), CEREAL_NVP(flush_denormals), CEREAL_NVP(processes),
            CEREAL_NVP(entrances));
  }
};

/// The launcher's request to an agent on another host to start one of the processes in HostPart.
struct StartProcess {
  static constexpr const char* kTypeName = "StartProcess";

  std::uint32_t index = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index));
  }
};

/// The launcher's request to an agent on another host to send a signal to a process and its process group.
struct SignalProcess {
  static constexpr const char* kTypeName = "SignalProcess";

  std::uint32_t index = 0;
  std::int32_t signal = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(signal));
  }
};

/// An agent's report to the launcher that it has started a process.
struct ProcessStarted {
  static constexpr const char* kTypeName = "ProcessStarted";

  std::uint32_t index = 0;
  std::int32_t pid = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(pid));
  }
};

/// An agent's report to the launcher that a process has ended, that a signal has stopped or continued it, or that it
/// could not be started.
struct ProcessChanged {
  static constexpr const char* kTypeName = "ProcessChanged";

  std::uint32_t index = 0;
  std::int32_t status = 0;  ///< The status that waitpid() returned; a failure if the process could not be started.
  std::string problem;      ///< The reason why the process could not be started; empty if it was started.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(status), CEREAL_NVP(problem));
  }
};

/// A line that a process on another host has printed.
struct ProcessLine {
  static constexpr const char* kTypeName = "ProcessLine";

  std::uint32_t index = 0;
  bool from_stderr = false;
  std::string text;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(from_stderr), CEREAL_NVP(text));
  }
};

/// A note that a rank has written for the other ranks (core/rendezvous). It is sent from the host of the rank to host
/// 0, and from there to all other hosts.
struct HostNote {
  static constexpr const char* kTypeName = "HostNote";

  std::string name;  ///< The path of the note's file, relative to the folder of notes.
  std::string text;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(text));
  }
};

/// A part of what one end of a tunnel sends to the other; see Tunnels. A part from one agent to another travels through
/// the launcher.
struct TunnelPart {
  static constexpr const char* kTypeName = "TunnelPart";

  std::uint32_t near_host = 0;  ///< The host of the visitor, which has chosen `number` for the tunnel.
  std::uint32_t far_host = 0;   ///< The host of the gateway.
  std::uint32_t number = 0;
  bool to_far = false;        ///< True if the near host has sent the part.
  bool opens = false;         ///< True for the first part, which has no bytes.
  std::uint32_t process = 0;  ///< In the first part: the index of the process whose gateway the visitor wants.
  std::string gateway;        ///< In the first part: the address of the gateway, which only the launcher sets.
  std::string bytes;
  std::uint32_t written = 0;  ///< How many bytes the sender has passed on to its socket since its previous part.
  bool closed = false;        ///< True for the last part.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(near_host), CEREAL_NVP(far_host), CEREAL_NVP(number), CEREAL_NVP(to_far), CEREAL_NVP(opens),
            CEREAL_NVP(process), CEREAL_NVP(gateway), CEREAL_NVP(bytes), CEREAL_NVP(written), CEREAL_NVP(closed));
  }
};

/// A sign of life, which the launcher and the agents of other hosts send each other once a second.
struct HostBeat {
  static constexpr const char* kTypeName = "HostBeat";

  template <class Archive>
  void serialize(Archive&) {}
};

/// An agent's report to the launcher that the agent has received a signal that asks the run to stop.
struct HostInterrupted {
  static constexpr const char* kTypeName = "HostInterrupted";

  std::int32_t signal = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(signal));
  }
};

/// The launcher's last message to the agents of other hosts: the run has ended, or will not begin.
struct RunEnded {
  static constexpr const char* kTypeName = "RunEnded";

  std::int32_t exit_code = 0;
  std::string reason;  ///< A text for the user of the agent's host; may be empty.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(exit_code), CEREAL_NVP(reason));
  }
};

}  // namespace trainyard::launch
