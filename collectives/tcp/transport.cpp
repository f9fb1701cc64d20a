// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/transport.h"

#include "collectives/tcp/ring.h"

namespace trainyard::tcp {

TcpTransport::TcpTransport(Links& links, Direct& direct, const Settings& settings)
    : links_(links), direct_(direct), record_bytes_(settings.record_bytes), order_(settings.order) {
  workspace_.arriving.resize(settings.record_bytes);
  workspace_.departing.resize(settings.streams, std::vector<std::byte>(settings.record_bytes));
}

std::unique_ptr<collectives::Transfer> TcpTransport::begin(const collectives::Operation& operation) {
  if (direct_.is_direct(operation)) return direct_.begin(operation);
  const bool any_order = order_ == Order::kAny || links_.size() == 2;
  if (any_order && Ring::can(operation, links_.size())) {
    return std::make_unique<Ring>(links_, workspace_, operation, record_bytes_);
  }
  return std::make_unique<Chain>(links_, workspace_, operation, record_bytes_);
}

}  // namespace trainyard::tcp
