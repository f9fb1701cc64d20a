// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/tcp.h"

#include "collectives/tcp/agreement.h"
#include "collectives/tcp/messages.h"
#include "collectives/tcp/transport.h"

namespace trainyard::tcp {

// Wrong parameters are reported before this rank waits for the others.
void Tcp::check() const {
  try {
    if (*interface_ != kAutomatic) streams::address_of_interface(*interface_);
    settings();
  } catch (const Error& error) {
    throw Error(error.code(), "{}: {}", where(), error.what());
  }
}

Settings Tcp::settings() const {
  return {.interface = *interface_,
          .ports = streams::read_ports(*ports_),
          .streams = static_cast<std::uint32_t>(*streams_),
          .record_bytes = static_cast<std::size_t>(*record_bytes_),
          .small_bytes = static_cast<std::size_t>(*small_bytes_),
          .order = *order_,
          .encrypt = *encrypt_};
}

collectives::Backend Tcp::open() {
  const Settings chosen = settings();
  const std::size_t direct_bytes = chosen.direct_bytes(size());
  const AgreedSecrets secrets(context());
  auto links = std::make_unique<Links>(context(), rank(), chosen, secrets, Control::limits(direct_bytes));
  auto agreement = std::make_unique<TcpAgreement>(std::move(links), ranks(), direct_bytes, context().log);
  Control& control = agreement->control();
  collectives::Backend backend;
  backend.transport = std::make_unique<TcpTransport>(agreement->links(), agreement->direct(), chosen);
  backend.agreement = std::move(agreement);
  backend.attendance = std::make_unique<TcpAttendance>(control);
  backend.messages = std::make_unique<TcpMessages>(control);
  return backend;
}

}  // namespace trainyard::tcp

TRAINYARD_COLLECTIVE(trainyard::tcp::Tcp, "tcp", "over TCP, between hosts or on one host, encrypted")
