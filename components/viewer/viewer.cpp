// SPDX-License-Identifier: Apache-2.0
#include "components/viewer/viewer.h"

#include <fmt/format.h>

#include <cstdio>

#include "viewer/viewer.h"
#include "visitors/run_info.h"

namespace trainyard {

ViewerComponent::ViewerComponent(ComponentContext& context) : Component(context, kTraits) {}

ViewerComponent::~ViewerComponent() = default;

// Binds the port before training begins, so that an error ends the run immediately.
void ViewerComponent::on_configure() {
  viewer::ViewerSettings settings;
  settings.server = server_.settings();
  settings.webhook = *webhook_;
  settings.log = [this](const std::string& line) { log().warn("{}", line); };
  viewer_ = std::make_unique<viewer::Viewer>(std::move(settings));
  const web::Role role = *watch_only_ ? web::Role::kWatch : web::Role::kControl;
  fmt::print(stderr, "{}: open {}\n", name(), viewer_->url(role));
  std::fflush(stderr);
}

void ViewerComponent::on_activate() {
  viewer_->library().follow(visitors::own_run());
  viewer_->start();
}

void ViewerComponent::on_finalize() { viewer_.reset(); }

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::ViewerComponent, "viewer", "Shows the run in a browser while it goes on")
