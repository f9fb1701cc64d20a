// SPDX-License-Identifier: Apache-2.0
#include "components/viewer/viewer.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "messages/error.h"
#include "viewer/viewer.h"
#include "visitors/run_info.h"

namespace trainyard {

ViewerComponent::ViewerComponent(ComponentContext& context) : Component(context, kTraits) {}

ViewerComponent::~ViewerComponent() = default;

// The port is bound before the run begins, so that a mistake ends the run at once.
void ViewerComponent::on_configure() {
  viewer::ViewerSettings settings;
  settings.server = {
      .address = *address_, .port = static_cast<std::uint16_t>(*port_), .certificate = *certificate_, .key = *key_};
  if (!host_name_->empty()) settings.server.names = {*host_name_};
  settings.webhook = *webhook_;
  settings.log = [this](const std::string& line) { log().warn("{}", line); };
  viewer_ = std::make_unique<viewer::Viewer>(std::move(settings));
  const web::Role role = *watch_only_ ? web::Role::kWatch : web::Role::kControl;
  fmt::print(stderr, "{}: open {}\n", name(), viewer_->url(role));
  std::fflush(stderr);
}

// The launcher has announced the run before components become active.
void ViewerComponent::on_activate() {
  const char* directory = std::getenv("TRAINYARD_RUN_DIRECTORY");
  const auto run = directory == nullptr ? std::nullopt : visitors::read_run(directory);
  if (!run) throw Error(Code::kNotFound, "{}: the run directory has no run.json that can be read", name());
  viewer_->library().follow(*run);
  viewer_->start();
}

void ViewerComponent::on_finalize() { viewer_.reset(); }

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::ViewerComponent, "viewer", "Shows the run in a browser while it goes on")
