// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "components/foxglove/bridge.h"
#include "core/component/component.h"
#include "web/server_parameters.h"

namespace trainyard {

/// The component through which Foxglove, and every other client of the Foxglove WebSocket protocol, can show the run
/// (docs/bridges.md). It has no inputs or outputs. It attaches to its own run as a visitor, like a program outside the
/// run, so it never delays another component, and its process can be killed and started again during the run.
class FoxgloveComponent final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io"};

  explicit FoxgloveComponent(ComponentContext& context);
  ~FoxgloveComponent() override;

 protected:
  /// Binds the port, so that an error ends the run before training begins, and prints the address to standard error.
  /// The address is not logged, because it contains a secret, and other people may read the log.
  void on_configure() override;
  void on_activate() override;
  void on_finalize() override;

 private:
  /// The address and port of the server. The default port is the one that Foxglove suggests.
  web::ServerParameters listens_{*this, 8765};
  Parameter<std::string> token_file_{
      *this, "token_file", "",
      "the file with the token of the address; made if it does not exist; default: foxglove.token in the run's output "
      "directory"};
  Parameter<web::Role> role_{*this, "role", web::Role::kControl,
                             "watch: clients may only look; control: they may also set parameters and call services"};
  Parameter<std::vector<std::string>> origins_{
      *this, "origins", std::vector<std::string>{"*"},
      "the origins of pages that may connect with the token, such as https://app.foxglove.dev; \"*\" = all"};

  // The server is declared last and so destroyed first, because its handlers use the bridge.
  std::unique_ptr<foxglove::Bridge> bridge_;
  std::unique_ptr<web::Server> server_;
};

}  // namespace trainyard
