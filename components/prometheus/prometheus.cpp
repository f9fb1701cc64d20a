// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/prometheus.h"

#include <memory>
#include <utility>

#include "visitors/run_info.h"
#include "web/token_file.h"

namespace trainyard {

PrometheusComponent::PrometheusComponent(ComponentContext& context) : Component(context, kTraits) {}

PrometheusComponent::~PrometheusComponent() = default;

void PrometheusComponent::on_configure() {
  const std::string directory = context().output_directory.empty() ? "." : context().output_directory;
  const std::string token_file = token_file_->empty() ? directory + "/prometheus.token" : *token_file_;
  web::Settings settings = listens_.settings();
  settings.watch_token = web::token_from_file(token_file);
  server_ = std::make_unique<web::Server>(std::move(settings));
  server_->on_get("/metrics", [this](const web::Request& request) { return answer(request); });
  // The token is not logged, because other people may read the log.
  const std::string url = server_->url(web::Role::kWatch);
  log().info("Prometheus can scrape {}metrics with the token in {}", url.substr(0, url.find('?')), token_file);
}

void PrometheusComponent::on_activate() {
  watch_ = std::make_unique<prometheus::RunWatch>(
      visitors::own_run(), [this](const std::string& text) { log().warn("cannot watch the run: {}", text); });
  server_->start();
}

void PrometheusComponent::on_finalize() {
  server_.reset();
  watch_.reset();
}

web::Response PrometheusComponent::answer(const web::Request& request) {
  const prometheus::Form form = prometheus::preferred_form(request.accept);
  return {.type = prometheus::content_type(form), .body = std::make_shared<const std::string>(watch_->scrape(form))};
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::PrometheusComponent, "prometheus", "Offers the numbers of the run to Prometheus")
