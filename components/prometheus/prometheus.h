// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "components/prometheus/run_watch.h"
#include "core/component/component.h"
#include "web/server_parameters.h"

namespace trainyard {

/// The component that offers metrics and statistics of the run to Prometheus, at the path /metrics (docs/bridges.md).
/// It has no inputs or outputs. It attaches to its own run as a visitor, like a program outside the run, so it never
/// delays another component, and its process can be killed and started again during the run.
class PrometheusComponent final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io"};

  explicit PrometheusComponent(ComponentContext& context);
  ~PrometheusComponent() override;

 protected:
  /// Binds the port, so that an error ends the run before training begins.
  void on_configure() override;
  void on_activate() override;
  void on_finalize() override;

 private:
  web::Response answer(const web::Request& request);

  /// The address and port of the server. The default port is the usual one of OpenTelemetry's Prometheus exporters.
  web::ServerParameters listens_{*this, 9464};
  Parameter<std::string> token_file_{
      *this, "token_file", "",
      "the file with the token that every scrape gives; made if it does not exist; default: prometheus.token in the "
      "run's output directory"};

  // The server is declared last and so destroyed first, because it uses the watch.
  std::unique_ptr<prometheus::RunWatch> watch_;
  std::unique_ptr<web::Server> server_;
};

}  // namespace trainyard
