// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/component/component.h"
#include "web/server_parameters.h"

namespace trainyard {

namespace viewer {
class Viewer;
}

/// The component that shows its run in a browser (docs/watch_in_a_browser.md). It has no inputs or outputs. It attaches
/// to its own run as a visitor, in the same way as a program outside the run, so it never delays another component.
/// When it is configured, it prints the address of the page to standard error. The address is not logged, because it
/// contains a secret, and other people may read the log.
class ViewerComponent final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io"};

  explicit ViewerComponent(ComponentContext& context);
  ~ViewerComponent() override;

 protected:
  void on_configure() override;
  void on_activate() override;
  void on_finalize() override;

 private:
  web::ServerParameters server_{*this, 0};
  Parameter<std::string> webhook_{*this, "webhook", "",
                                  "send alerts to this address with HTTP POST, such as http://127.0.0.1:9000/alerts"};
  Parameter<bool> watch_only_{*this, "watch_only", false, "print only the address that cannot change the run"};

  std::unique_ptr<viewer::Viewer> viewer_;
};

}  // namespace trainyard
