// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/config/parameter.h"
#include "web/server.h"

namespace trainyard::web {

/// The parameters of a component that has a server: where it listens, and under which names it is known.
///
///     web::ServerParameters server_{*this, 8765};
class ServerParameters {
 public:
  /// Declares the parameters of `owner`. `port` is the default of the parameter `port`; 0 means a free port.
  ServerParameters(Configurable& owner, std::int64_t port);

  /// Returns the settings that the parameters specify. Tokens and limits have their defaults.
  Settings settings() const;

 private:
  Parameter<std::string> address_, host_name_, certificate_, key_;
  Parameter<std::int64_t> port_;
};

}  // namespace trainyard::web
