// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "core/config/parameter.h"

namespace trainyard::collectives {

/// A collective over ZeroMQ sockets on one host. Every build contains it. In a small reduction, every rank sends all
/// its elements to every other rank. In a larger one, each rank reduces one part of the elements: the other ranks send
/// it this part of their elements, and it sends the result back. Values are always added in the order of the ranks.
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
