// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

// The messages of the control protocol between the launcher and the processes of a run, roughly in the order in which
// they are sent.

/// The first message of a process to the launcher, which answers with a ProcessPlan.
struct Hello {
  static constexpr const char* kTypeName = "Hello";

  std::string process;
  std::int32_t pid = 0;
  /// The ABI tag of the process's executable (core/plugin/abi.h).
  std::string abi_tag;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(pid), CEREAL_NVP(abi_tag));
  }
};

/// A process's report that it has configured all its components and bound all its sockets. A process that fails to do
/// this sends StateChanged with the state "error" instead.
struct Configured {
  static constexpr const char* kTypeName = "Configured";

  std::string process;
  /// The addresses of the sockets of this process. Under the key "<process>/gateway" is the address of the gateway, the
  /// part of the process that serves visitors (programs outside the plan). Under the key "<process>/<thread>" is the
  /// address of the event loop of a thread; it is missing if this loop sends no messages to other processes.
  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(endpoints));
  }
};

/// The launcher's request to a process to connect its inputs to the processes that send to them. The launcher sends it
/// when every process has sent Configured, and again after it has restarted a process. Existing connections are not
/// changed.
struct Connect {
  static constexpr const char* kTypeName = "Connect";

  /// The addresses that all processes have announced in Configured::endpoints, under the same keys. They include the
  /// addresses of the receiving process itself.
  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(endpoints));
  }
};

/// A process's report that the senders have acknowledged the subscriptions of all its inputs. The launcher activates
/// components only when all processes have sent this report, so no message between components is lost at the start.
struct Connected {
  static constexpr const char* kTypeName = "Connected";

  std::string process;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process));
  }
};

/// The launcher's request to a process to change the state of a component. The process answers with one StateChanged.
/// When an active component becomes inactive, the process answers only after the receivers have handled all messages
/// that the component has sent over edges (connections) with the policy `block`.
struct Transition {
  static constexpr const char* kTypeName = "Transition";

  std::string component;
  std::string state;  ///< "active", "inactive" or "finalized".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state));
  }
};

/// A process's report that one of its components has reached a state, or has failed. A component can also fail in a
/// handler, without a Transition. An empty `component` stands for the whole process.
struct StateChanged {
  static constexpr const char* kTypeName = "StateChanged";

  std::string component;
  std::string state;  ///< "inactive", "active", "finalized" or "error".
  /// The error's text; empty unless `state` is "error".
  std::string error;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state), CEREAL_NVP(error));
  }
};

/// A process's report that it is alive, which it sends to the launcher once a second. The sender is the control thread,
/// which runs no components, so the message does not show whether the components make progress.
struct Heartbeat {
  static constexpr const char* kTypeName = "Heartbeat";

  std::string process;
  std::uint64_t sequence = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(sequence));
  }
};

/// A process's report that one of its components has asked to end the run (Component::finish_run). The launcher shows
/// the user the reason from the first such report, and ignores later reports.
struct RunFinished {
  static constexpr const char* kTypeName = "RunFinished";

  std::string component;
  std::string reason;
  bool success = true;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(reason), CEREAL_NVP(success));
  }
};

/// The launcher's report that a process has ended. The launcher sends it to all other processes after it has reaped the
/// dead process. A receiver of this message releases the shared buffers that the dead process held, no longer waits for
/// the dead process to handle earlier messages, and disconnects from it.
struct PeerGone {
  static constexpr const char* kTypeName = "PeerGone";

  std::string process;
  /// The index of the process in the plan, under which shared buffers count the references that the process holds. A
  /// restarted process keeps its index.
  std::uint32_t process_index = 0;
  /// The pid that the dead process had on its own host, which distinguishes it from its successor; 0 if it is unknown.
  std::int32_t pid = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(process_index), CEREAL_NVP(pid));
  }
};

/// A call to a component, to a process or to the launcher. The launcher sends it to a process, often on behalf of a
/// user or a tool. A process can send it to the launcher, which forwards a call to a component. No training step
/// depends on a request.
struct Request {
  static constexpr const char* kTypeName = "Request";

  std::uint64_t id = 0;
  std::string target;  ///< The name of the component; empty for a process or the launcher.
  /// For a component: "param.list", "param.get", "param.set" or one of its services. For a process: "counters" or
  /// "pulse". For the launcher: "run", "topics" or "nodes".
  std::string method;
  std::string body;  ///< JSON.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(target), CEREAL_NVP(method), CEREAL_NVP(body));
  }
};

/// The answer to the Request of the same `id`. Every request gets exactly one reply, unless the process dies first.
struct Reply {
  static constexpr const char* kTypeName = "Reply";

  std::uint64_t id = 0;
  bool ok = true;
  std::string body;  ///< JSON, or the error's text if `ok` is false.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(ok), CEREAL_NVP(body));
  }
};

}  // namespace trainyard
