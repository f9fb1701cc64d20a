// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

/// The first message of a process to the launcher, which answers with a ProcessPlan. The messages from here to Reply
/// are the control protocol between the launcher and the processes, in the order in which a run goes through them.
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

/// Reports that the process has configured all its components and bound all its sockets. A process that fails to do so
/// sends StateChanged with the state "error" instead.
struct Configured {
  static constexpr const char* kTypeName = "Configured";

  std::string process;
  /// The address of each event loop's socket. The keys are "process/thread".
  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(endpoints));
  }
};

/// Tells a process to connect its inputs, and gives it the endpoints of all processes. The launcher sends it when every
/// process has sent Configured, and again after it has restarted a process. Existing connections are not changed.
struct Connect {
  static constexpr const char* kTypeName = "Connect";

  /// The keys are those of Configured. The receiver's own process is included.
  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(endpoints));
  }
};

/// Reports that the subscriptions of all inputs of the process have been acknowledged. The launcher activates
/// components only when all processes have sent this message, so the first messages cannot be lost.
struct Connected {
  static constexpr const char* kTypeName = "Connected";

  std::string process;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process));
  }
};

/// Tells a process to change the state of a component. The process answers with one StateChanged. If an active
/// component becomes inactive, the answer comes only after everything that it sent over edges with the policy `block`
/// has been handled.
struct Transition {
  static constexpr const char* kTypeName = "Transition";

  std::string component;
  std::string state;  ///< "active", "inactive" or "finalized".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state));
  }
};

/// Reports that a component has reached a state, or has failed. A component may also fail in a handler, without a
/// Transition. An empty `component` stands for the whole process.
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

/// Reports that the process is alive. Each process sends it to the launcher once a second. Because it comes from the
/// control thread, it does not mean that the components make progress.
struct Heartbeat {
  static constexpr const char* kTypeName = "Heartbeat";

  std::string process;
  std::uint64_t sequence = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(sequence));
  }
};

/// Reports that a component has ended the run. Only the first such message counts; its reason is shown to the user.
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

/// Reports that a process has ended. The receiver releases the shared buffers that the dead process held, no longer
/// waits for credit from it, and detaches its own edges to it. The launcher sends this message to all other processes
/// after it has reaped the dead one.
struct PeerGone {
  static constexpr const char* kTypeName = "PeerGone";

  std::string process;
  /// The index under which shared buffers count the references of the process. A restarted process keeps its index.
  std::uint32_t process_index = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(process_index));
  }
};

/// A call to a component, to a process (if `target` is empty) or to the launcher. Users and tools send it; it travels
/// over the control sockets and is never part of a step.
struct Request {
  static constexpr const char* kTypeName = "Request";

  std::uint64_t id = 0;
  std::string target;  ///< The name of the component.
  /// "param.list", "param.get", "param.set" or a service of the component; "counters" for a process.
  std::string method;
  std::string body;  ///< JSON.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(target), CEREAL_NVP(method), CEREAL_NVP(body));
  }
};

/// The answer to the Request of the same `id`. Every request gets exactly one, unless the process dies first.
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
