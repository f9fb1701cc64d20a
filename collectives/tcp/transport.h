// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/chain.h"
#include "collectives/tcp/direct.h"

namespace trainyard::tcp {

/// Transfers the data of collective operations (all operations except send, recv and barriers). In small operations,
/// every two members exchange their elements directly (Direct). The data of large ones travels from member to member,
/// along a chain (Chain) or around a ring (Ring).
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
