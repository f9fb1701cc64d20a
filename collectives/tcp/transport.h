// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/chain.h"
#include "collectives/tcp/direct.h"

namespace trainyard::tcp {

/// Transfers the data of collective operations. A barrier has no data, and send and recv do not use this class. In a
/// small operation, each pair of members exchanges its elements directly (Direct). In a large one, the data travels
/// from member to member, along a chain (Chain) or around a ring (Ring).
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
