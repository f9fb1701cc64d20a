// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "collectives/tcp/control.h"
#include "collectives/transport.h"

namespace trainyard::tcp {

/// The transport of messages between two members over their control stream. A small message is sent immediately, and
/// its send operation is then finished. For a large message, only the request is sent at first; the elements follow
/// when the receiver has called recv, and are received directly into its memory.
class TcpMessages final : public collectives::Transport {
 public:
  explicit TcpMessages(Control& control) : control_(control) {}

  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation) override;

 private:
  Control& control_;
};

}  // namespace trainyard::tcp
