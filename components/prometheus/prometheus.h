// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "components/prometheus/run_watch.h"
#include "core/component/component.h"
#include "web/server_parameters.h"

namespace trainyard {

/// The component that offers the numbers of its run to Prometheus, at the path /metrics (docs/bridges.md). It is a
/// visitor of its own run and has no ports, so it never delays another component, and its process can be killed and
/// started again during the run.
class PrometheusComponent final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io"};

  explicit PrometheusComponent(ComponentContext& context);
  ~PrometheusComponent() override;

 protected:
  /// Binds the port, so that a mistake ends the run before it begins.
  void on_configure() override;
  void on_activate() override;
  void on_finalize() override;

 private:
  web::Response answer(const web::Request& request);

  /// The default port. Other exporters of OpenTelemetry use the same port.
  web::ServerParameters listens_{*this, 9464};
  Parameter<std::string> token_file_{
      *this, "token_file", "",
      "the file with the token that every scrape gives; made if it does not exist; default: prometheus.token in the "
      "run's output directory"};

  // The server ends first, because it asks the watch.
  std::unique_ptr<prometheus::RunWatch> watch_;
  std::unique_ptr<web::Server> server_;
};

}  // namespace trainyard
