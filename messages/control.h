#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

/// First word of a process to the launcher, which answers with a ProcessPlan. From here to Reply: the control protocol
/// between launcher and processes, in the order in which a run goes through it.
struct Hello {
  static constexpr const char* kTypeName = "Hello";

  std::string process;
  std::int32_t pid = 0;
  // Of the executable (core/plugin/abi.h).
  std::string abi_tag;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(pid), CEREAL_NVP(abi_tag));
  }
};

/// Every component is configured and every socket bound. A process that cannot get there says StateChanged "error".
struct Configured {
  static constexpr const char* kTypeName = "Configured";

  std::string process;
  std::map<std::string, std::string> endpoints;  ///< "process/thread" to the address to connect to.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(endpoints));
  }
};

/// The endpoints of all processes: connect the inputs now. Sent when every process has said Configured, and again when
/// one of them was started anew; what is connected already stays so.
struct Connect {
  static constexpr const char* kTypeName = "Connect";

  // By the same keys as in Configured, those of the receiver's own process included.
  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(endpoints));
  }
};

/// Every input's subscription was acknowledged. Only when all processes have said so are components activated: that is
/// why no first message can be lost.
struct Connected {
  static constexpr const char* kTypeName = "Connected";

  std::string process;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process));
  }
};

/// Bring a component to a state. Answered by one StateChanged; "inactive" of an active component only after everything
/// that it sent has been handled.
struct Transition {
  static constexpr const char* kTypeName = "Transition";

  std::string component;
  std::string state;  ///< "active", "inactive" or "finalized".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state));
  }
};

/// A component reached a state, or failed on the way, or (unasked for) failed in a handler. An empty `component` speaks
/// for the whole process.
struct StateChanged {
  static constexpr const char* kTypeName = "StateChanged";

  std::string component;
  std::string state;  ///< "inactive", "active", "finalized" or "error".
  // Empty unless `state` is "error".
  std::string error;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state), CEREAL_NVP(error));
  }
};

/// Alive; sent every second on the control socket only. It comes from the control loop, so it says that the process
/// lives, not that its components make progress.
struct Heartbeat {
  static constexpr const char* kTypeName = "Heartbeat";

  std::string process;
  std::uint64_t sequence = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(sequence));
  }
};

/// A component says that the run is over. The first one counts; its reason is what the user is told.
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

/// A process is gone: release what it held in shared buffers, stop waiting for its credits, and forget its sockets.
/// Sent by the launcher to all others, after the process has been reaped.
struct PeerGone {
  static constexpr const char* kTypeName = "PeerGone";

  std::string process;
  // Under which shared buffers count it; a process that is started again has the same.
  std::uint32_t process_index = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(process_index));
  }
};

/// A call to a component, to a process (`target` empty) or to the launcher. Travels on the control plane: for people
/// and tools, never on the step path.
struct Request {
  static constexpr const char* kTypeName = "Request";

  std::uint64_t id = 0;
  std::string target;  ///< Component name.
  std::string method;  ///< "param.list", "param.set", "counters", or a service of the component.
  std::string body;    ///< JSON.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(target), CEREAL_NVP(method), CEREAL_NVP(body));
  }
};

/// The answer to a Request of the same `id`. There is exactly one, unless the process dies first.
struct Reply {
  static constexpr const char* kTypeName = "Reply";

  std::uint64_t id = 0;
  bool ok = true;
  std::string body;  ///< JSON, or the error's text.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(ok), CEREAL_NVP(body));
  }
};

}  // namespace trainyard
