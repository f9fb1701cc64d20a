// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/tcp/control.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// Transfers messages (send and recv) between two members over their control stream. A small message is sent
/// immediately, and the send is then finished. For a large message, only an offer is sent at first. When the receiver
/// has called recv, the elements follow, and are received directly into the memory that the receiver passed to recv.
class TcpMessages final : public collectives::Transport {
 public:
  explicit TcpMessages(Control& control) : control_(control) {}

  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation) override;

 private:
  Control& control_;
};

}  // namespace trainyard::tcp
