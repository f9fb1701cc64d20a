#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

/// First word of a process to the launcher.
struct Hello {
  static constexpr const char* kTypeName = "Hello";

  std::string process;
  std::int32_t pid = 0;
  std::string abi_tag;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(pid), CEREAL_NVP(abi_tag));
  }
};

/// Every component is configured and every socket bound.
struct Configured {
  static constexpr const char* kTypeName = "Configured";

  std::string process;
  std::map<std::string, std::string> endpoints;  ///< "process/thread" to the address to connect to.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(endpoints));
  }
};

/// The endpoints of all processes: connect the inputs now.
struct Connect {
  static constexpr const char* kTypeName = "Connect";

  std::map<std::string, std::string> endpoints;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(endpoints));
  }
};

/// Every input's subscription was acknowledged.
struct Connected {
  static constexpr const char* kTypeName = "Connected";

  std::string process;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process));
  }
};

/// Bring a component to a state.
struct Transition {
  static constexpr const char* kTypeName = "Transition";

  std::string component;
  std::string state;  ///< "active", "inactive" or "finalized".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state));
  }
};

/// A component reached a state, or failed on the way.
struct StateChanged {
  static constexpr const char* kTypeName = "StateChanged";

  std::string component;
  std::string state;  ///< "inactive", "active", "finalized" or "error".
  std::string error;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(state), CEREAL_NVP(error));
  }
};

/// Alive; sent every second on the control socket only.
struct Heartbeat {
  static constexpr const char* kTypeName = "Heartbeat";

  std::string process;
  std::uint64_t sequence = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(sequence));
  }
};

/// A component says that the run is over.
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

/// A process is gone: release what it held.
struct PeerGone {
  static constexpr const char* kTypeName = "PeerGone";

  std::string process;
  std::uint32_t process_index = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(process), CEREAL_NVP(process_index));
  }
};

/// A call to a component, to a process (`target` empty) or to the launcher.
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

/// The answer to a Request.
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
