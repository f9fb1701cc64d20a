// SPDX-License-Identifier: Apache-2.0
#include "web/server_parameters.h"

namespace trainyard::web {

ServerParameters::ServerParameters(Configurable& owner, std::int64_t port)
    : address_(owner, "address", "127.0.0.1",
               "the IP address to listen at; outside of loopback, a certificate is needed"),
      host_name_(owner, "host_name", "", "a further name under which clients reach it, such as node7.example.org"),
      certificate_(owner, "certificate", "", "a PEM file with the certificate and its chain"),
      key_(owner, "key", "", "a PEM file with the key of the certificate"),
      port_(owner, "port", port, "the port to listen at; 0 = a free one", between(0, 65535)) {}

Settings ServerParameters::settings() const {
  Settings settings{
      .address = *address_, .port = static_cast<std::uint16_t>(*port_), .certificate = *certificate_, .key = *key_};
  if (!host_name_->empty()) settings.names = {*host_name_};
  return settings;
}

}  // namespace trainyard::web
