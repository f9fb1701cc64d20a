// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/chain.h"
#include "collectives/tcp/direct.h"

namespace trainyard::tcp {

/// The transport of the operations of the group. Small operations are exchanged directly between every two members, and
/// large ones along the chain or around the ring of the members.
class TcpTransport final : public collectives::Transport {
 public:
  TcpTransport(Links& links, Direct& direct, const Settings& settings);

  std::unique_ptr<collectives::Transfer> begin(const collectives::Operation& operation) override;

 private:
  Links& links_;
  Direct& direct_;
  const std::size_t record_bytes_;
  const Order order_;
  Workspace workspace_;
};

}  // namespace trainyard::tcp
