#pragma once

#include <string>

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "core/config/parameter.h"

namespace trainyard::collectives {

/// Collectives over sockets of libzmq, which is always there. Every member sends to every other one directly: all there
/// is if that is little, else the part that the other one reduces, and back comes the result. Members are added in the
/// order of their ranks, whatever the size.
///
/// Parameters  transport  "ipc": sockets in a private folder; or "tcp": the loopback interface
class Zmq final : public Collective {
 public:
  explicit Zmq(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;

  Parameter<std::string> transport_{*this, "transport", "ipc", "what the sockets are", one_of({"ipc", "tcp"})};
};

}  // namespace trainyard::collectives
