// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/foxglove.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "components/foxglove/protocol.h"
#include "visitors/run_info.h"
#include "web/token_file.h"

namespace trainyard {
namespace {

/// The memory for data that waits for slow clients is limited per client, so the number of clients is limited, too.
constexpr std::size_t kMostClients = 32;

}  // namespace

FoxgloveComponent::FoxgloveComponent(ComponentContext& context) : Component(context, kTraits) {}

FoxgloveComponent::~FoxgloveComponent() = default;

void FoxgloveComponent::on_configure() {
  const std::string directory = context().output_directory.empty() ? "." : context().output_directory;
  web::Settings settings = listens_.settings();
  settings.limits.connections = kMostClients;
  settings.limits.guests = kMostClients / 4;
  const std::string token = web::token_from_file(token_file_->empty() ? directory + "/foxglove.token" : *token_file_);
  (*role_ == web::Role::kControl ? settings.control_token : settings.watch_token) = token;
  server_ = std::make_unique<web::Server>(std::move(settings));
  server_->on_channel({.path = "/", .subprotocol = foxglove::kSubprotocol, .origins = *origins_},
                      [this](web::Channel& channel) { return bridge_->open(channel); });
  // "http" becomes "ws", and "https" becomes "wss".
  fmt::print(stderr, "{}: connect to ws{}\n", name(), server_->url(*role_).substr(4));
  std::fflush(stderr);
}

void FoxgloveComponent::on_activate() {
  bridge_ = std::make_unique<foxglove::Bridge>(
      visitors::own_run(), [this](const std::string& text) { log().warn("cannot watch the run: {}", text); });
  server_->start();
}

void FoxgloveComponent::on_finalize() {
  server_.reset();
  bridge_.reset();
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::FoxgloveComponent, "foxglove", "Shows the run to Foxglove and its protocol's clients")
