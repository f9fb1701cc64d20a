// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "core/config/parameter.h"

namespace trainyard::collectives {

/// A collective over sockets of libzmq. It is always available. Every member sends directly to every other member: all
/// its elements if they are few, otherwise only the part that the other member reduces and sends back. Values are added
/// in the order of the ranks, for every size.
///
/// Parameters  transport  "ipc": sockets in a private folder; or "tcp": the loopback interface
class Zmq final : public Collective {
 public:
  explicit Zmq(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;

  Parameter<std::string> transport_{*this, "transport", "ipc", "kind of sockets", one_of({"ipc", "tcp"})};
};

}  // namespace trainyard::collectives
